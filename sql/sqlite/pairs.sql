-- Pairs of rows that share a bucket key, in both directions: a filter on one side is enough. A view cannot look at
-- texts, so it lists what may reach the threshold: the score is an estimate, `standard_error` says how good.
-- No function is needed: common bits are counted with shifts and sums over the 64-bit words of the filters.
CREATE VIEW {pairs_view} AS
SELECT {pair_names}, score, shared_keys, standard_error
FROM (
    SELECT {pair_columns}, {score} AS score, {shared_keys} AS shared_keys, {standard_error} AS standard_error
    FROM {signatures} AS a JOIN {signatures} AS b ON ({key_in_common}) AND ({a_key}) <> ({b_key})
)
WHERE score >= {threshold} - {deviations} * standard_error - {least_step}
