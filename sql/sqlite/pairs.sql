-- Pairs of rows that share a bucket key, in both directions: a filter on one side is enough. A view cannot look at
-- texts, so it lists what may reach the threshold: the score is an estimate, `standard_error` says how good.
-- One join a key, which a filter on a row's own key reaches through indexes; a pair is taken from the first key it shares.
-- What people decided counts: different rows are left out, the same ones are there whatever their score.
-- No function is needed: common bits are counted with shifts and sums over the 64-bit words of the filters.
CREATE VIEW {pairs_view} AS /* {mark} */
SELECT {pair_names}, score, shared_keys, standard_error
FROM (
    SELECT {candidate_names}, {score} AS score, {shared_keys} AS shared_keys,
        {standard_error} AS standard_error, {step} AS dbsim_step
    FROM ({candidates}) AS p
    CROSS JOIN {signatures} AS a ON {a_is_candidate} CROSS JOIN {signatures} AS b ON {b_is_candidate}
    WHERE p.dbsim_key = {first_shared} AND {undecided}
)
WHERE score >= {threshold} - {deviations} * standard_error - dbsim_step
UNION ALL
SELECT {pair_columns}, coalesce({score}, 0.0), coalesce({shared_keys}, 0), {standard_error}
FROM {decisions} AS d CROSS JOIN {signatures} AS a CROSS JOIN {signatures} AS b WHERE {same_in_order}
UNION ALL
SELECT {pair_columns}, coalesce({score}, 0.0), coalesce({shared_keys}, 0), {standard_error}
FROM {decisions} AS d CROSS JOIN {signatures} AS a CROSS JOIN {signatures} AS b WHERE {same_in_reverse}
