-- Pairs of rows that share a bucket key, in both directions: a filter on one side is enough. A view cannot look at
-- texts, so it lists what may reach the threshold: the score is an estimate, `standard_error` says how good.
-- One join a key, which a filter on a row's own key reaches through indexes; a pair is taken from the first key it shares.
-- A caller from whom rows are hidden starts from the rows that are not, with all their keys in one join.
-- What people decided counts: different rows are left out, the same ones are there whatever their score (`decided`).
CREATE OR REPLACE VIEW {pairs_view} WITH (security_barrier) AS
SELECT {pair_names}, score, shared_keys, standard_error, NULL::text AS decided
FROM (
    SELECT {candidate_names}, {score} AS score, {shared_keys} AS shared_keys,
        {standard_error} AS standard_error, {step} AS dbsim_step
    FROM ({candidates}) AS p
    CROSS JOIN LATERAL (SELECT a.* FROM {signatures} AS a WHERE {a_is_candidate} OFFSET 0) AS a
    CROSS JOIN LATERAL (SELECT b.* FROM {signatures} AS b WHERE {b_is_candidate} OFFSET 0) AS b
    WHERE {undecided} AND {sees_all}
    UNION ALL
    SELECT * FROM (
        WITH dbsim_shown AS MATERIALIZED (SELECT s.* FROM {visible_rows} AS s WHERE NOT {sees_all}),
        dbsim_keys AS MATERIALIZED (
            SELECT {s_key}, one.key_number, one.bucket FROM dbsim_shown AS s
            CROSS JOIN LATERAL (VALUES {numbered_keys}) AS one (key_number, bucket)
        )
        SELECT {candidate_names}, {score} AS score, {shared_keys} AS shared_keys,
            {standard_error} AS standard_error, {step} AS dbsim_step
        FROM (
            SELECT DISTINCT {pair_columns} FROM dbsim_keys AS a JOIN dbsim_keys AS b
            ON a.key_number = b.key_number AND a.bucket = b.bucket AND ({a_key}) <> ({b_key})
        ) AS p JOIN dbsim_shown AS a ON {a_is_candidate} JOIN dbsim_shown AS b ON {b_is_candidate}
        WHERE {undecided}
    ) AS of_shown
) AS pair
WHERE score >= {threshold} - {deviations} * standard_error - dbsim_step
UNION ALL
SELECT {pair_names}, coalesce(score, 0), coalesce(shared_keys, 0), standard_error, '{same}'::text
FROM (
    SELECT {pair_columns}, {score} AS score, {shared_keys} AS shared_keys, {standard_error} AS standard_error
    FROM {decisions} AS d JOIN {signatures} AS a ON true JOIN {signatures} AS b ON {same_in_order} WHERE {sees_all}
    UNION ALL
    SELECT {pair_columns}, {score} AS score, {shared_keys} AS shared_keys, {standard_error} AS standard_error
    FROM {decisions} AS d JOIN {signatures} AS a ON true JOIN {signatures} AS b ON {same_in_reverse} WHERE {sees_all}
    UNION ALL
    SELECT {pair_columns}, {score} AS score, {shared_keys} AS shared_keys, {standard_error} AS standard_error
    FROM {decisions} AS d JOIN {visible_rows} AS a ON true
    JOIN {visible_rows} AS b ON ({same_in_order}) OR ({same_in_reverse}) WHERE NOT {sees_all}
) AS same
