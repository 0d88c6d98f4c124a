-- Pairs of rows that share a bucket key and reach the threshold, in both directions: a filter on one side is enough.
CREATE OR REPLACE VIEW {pairs_view} WITH (security_barrier) AS
SELECT {pair_names}, score, shared_keys
FROM (
    SELECT {pair_columns}, {score} AS score, {shared_keys} AS shared_keys
    FROM {signatures} AS a JOIN {signatures} AS b ON ({key_in_common}) AND ({a_key}) <> ({b_key})
    WHERE {sees_all}
    UNION ALL
    SELECT {pair_columns}, {score} AS score, {shared_keys} AS shared_keys
    FROM {visible_rows} AS a JOIN {visible_rows} AS b ON ({key_in_common}) AND ({a_key}) <> ({b_key})
    WHERE NOT {sees_all}
) AS pair
WHERE score >= {threshold}
