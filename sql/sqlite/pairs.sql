-- Pairs of rows that share a bucket key and reach the threshold, in both directions: a filter on one side is enough.
-- No function is needed: common bits are counted with shifts and sums over the 64-bit words of the filters.
CREATE VIEW {pairs_view} AS
SELECT {pair_names}, score, shared_keys
FROM (
    SELECT {pair_columns}, {score} AS score, {shared_keys} AS shared_keys
    FROM {signatures} AS a JOIN {signatures} AS b ON ({key_in_common}) AND ({a_key}) <> ({b_key})
)
WHERE score >= {threshold}
