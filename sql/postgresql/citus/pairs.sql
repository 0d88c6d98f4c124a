-- On Citus: the pairs that `dbsim duplicates` has stored, in both directions. Rows of one bucket lie on different nodes,
-- so that they cannot be joined there; the rows that are in any pair or decision are brought together once, and joined
-- with the decisions, of which every node has a copy. What people decided counts as in the view of one machine.
CREATE OR REPLACE VIEW {pairs_view} WITH (security_barrier) AS
WITH sought AS MATERIALIZED (
    SELECT e.a, e.b, e.score, e.exact FROM {edges} AS e JOIN {results} AS r ON r.pairing = e.pairing
    WHERE r.name = {published}
), paired AS MATERIALIZED (
    SELECT {s_key}, s.{fingerprint} FROM {signatures} AS s
    WHERE {sees_all} AND s.{fingerprint} IN (
        SELECT e.a FROM {edges} AS e UNION ALL SELECT e.b FROM {edges} AS e
        UNION ALL SELECT c.content FROM {contents} AS c
        UNION ALL SELECT d.fingerprint_a FROM {decisions} AS d UNION ALL SELECT d.fingerprint_b FROM {decisions} AS d)
), same AS (
    SELECT {pair_columns}, a.{fingerprint} AS dbsim_one, b.{fingerprint} AS dbsim_two, d.score
    FROM {decisions} AS d JOIN paired AS a ON true JOIN paired AS b ON {same_in_order}
    UNION ALL
    SELECT {pair_columns}, a.{fingerprint} AS dbsim_one, b.{fingerprint} AS dbsim_two, d.score
    FROM {decisions} AS d JOIN paired AS a ON true JOIN paired AS b ON {same_in_reverse}
)
SELECT {pair_columns}, e.score, NULL::integer AS shared_keys, CASE WHEN e.exact THEN 0::float8 END AS standard_error,
    NULL::text AS decided
FROM sought AS e JOIN paired AS a ON a.{fingerprint} = e.a JOIN paired AS b ON b.{fingerprint} = e.b WHERE {undecided}
UNION ALL
SELECT {pair_columns}, e.score, NULL::integer AS shared_keys, CASE WHEN e.exact THEN 0::float8 END AS standard_error,
    NULL::text AS decided
FROM sought AS e JOIN paired AS a ON a.{fingerprint} = e.b JOIN paired AS b ON b.{fingerprint} = e.a WHERE {undecided}
UNION ALL
SELECT {pair_columns}, 1::float8 AS score, NULL::integer AS shared_keys, 0::float8 AS standard_error,
    NULL::text AS decided
FROM paired AS a JOIN paired AS b ON a.{fingerprint} = b.{fingerprint} AND ({a_key}) <> ({b_key}) WHERE {undecided}
UNION ALL
SELECT {same_names}, CASE WHEN s.dbsim_one = s.dbsim_two THEN 1 ELSE coalesce(e.score, s.score, 0) END AS score,
    NULL::integer AS shared_keys, CASE WHEN e.exact OR s.dbsim_one = s.dbsim_two THEN 0::float8 END AS standard_error,
    '{same}'::text AS decided
FROM same AS s LEFT JOIN sought AS e
    ON e.a = least(s.dbsim_one, s.dbsim_two) AND e.b = greatest(s.dbsim_one, s.dbsim_two)
