-- Pairs of rows that share a bucket key, in both directions: a filter on one side is enough. A view cannot look at
-- texts, so it lists what may reach the threshold: the score is an estimate, `standard_error` says how good.
-- One join a key, which a filter on a row's own key reaches through indexes; a pair is taken from the first key it shares.
-- What people decided counts: different rows are left out, the same ones are there whatever their score.
CREATE OR REPLACE VIEW {pairs_view} WITH (security_barrier) AS
SELECT {pair_names}, score, shared_keys, standard_error
FROM (
    SELECT {candidate_names}, {score} AS score, {shared_keys} AS shared_keys,
        {standard_error} AS standard_error, {step} AS dbsim_step
    FROM ({candidates}) AS p
    JOIN {signatures} AS a ON {a_is_candidate} JOIN {signatures} AS b ON {b_is_candidate}
    WHERE p.dbsim_key = {first_shared} AND {undecided} AND {sees_all}
    UNION ALL
    SELECT {pair_columns}, {score} AS score, {shared_keys} AS shared_keys, {standard_error} AS standard_error, {step} AS dbsim_step
    FROM {visible_rows} AS a JOIN {visible_rows} AS b ON ({shares_a_key}) AND ({a_key}) <> ({b_key})
    WHERE {undecided} AND NOT {sees_all}
) AS pair
WHERE score >= {threshold} - {deviations} * standard_error - dbsim_step
UNION ALL
SELECT {pair_names}, coalesce(score, 0), coalesce(shared_keys, 0), standard_error
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
