-- On Citus: the pairs that `dbsim duplicates` has stored, in both directions. Rows of one bucket lie on different nodes,
-- so that they cannot be joined there; the rows that are in any pair are brought together once.
CREATE OR REPLACE VIEW {pairs_view} WITH (security_barrier) AS
WITH sought AS MATERIALIZED (
    SELECT e.a, e.b, e.score, e.exact FROM {edges} AS e JOIN {results} AS r ON r.pairing = e.pairing
    WHERE r.name = {published}
), paired AS MATERIALIZED (
    SELECT {s_key}, s.{fingerprint} AS dbsim_content FROM {signatures} AS s
    WHERE {sees_all} AND s.{fingerprint} IN (
        SELECT e.a FROM {edges} AS e UNION ALL SELECT e.b FROM {edges} AS e
        UNION ALL SELECT c.content FROM {contents} AS c)
)
SELECT {pair_columns}, e.score, NULL::integer AS shared_keys, CASE WHEN e.exact THEN 0::float8 END AS standard_error,
    NULL::text AS decided
FROM sought AS e JOIN paired AS a ON a.dbsim_content = e.a JOIN paired AS b ON b.dbsim_content = e.b
UNION ALL
SELECT {pair_columns}, e.score, NULL::integer AS shared_keys, CASE WHEN e.exact THEN 0::float8 END AS standard_error,
    NULL::text AS decided
FROM sought AS e JOIN paired AS a ON a.dbsim_content = e.b JOIN paired AS b ON b.dbsim_content = e.a
UNION ALL
SELECT {pair_columns}, 1::float8 AS score, NULL::integer AS shared_keys, 0::float8 AS standard_error,
    NULL::text AS decided
FROM paired AS a JOIN paired AS b ON a.dbsim_content = b.dbsim_content AND ({a_key}) <> ({b_key})
