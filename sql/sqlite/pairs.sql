-- Pairs of rows that share a bucket key, in both directions: a filter on one side is enough. A view cannot look at
-- texts, so it lists what may reach the threshold: the score is an estimate, `standard_error` says how good.
-- One join a key, which a filter on a row's own key reaches through indexes. What people decided counts: different rows
-- are left out, the same ones are there whatever their score (`decided`).
-- No function is needed: common bits are counted with shifts and sums over the 64-bit words of the filters.
-- Kept small, because SQLite reads every view again whenever the host alters any table: the score stands here once, and
-- a last SELECT without FROM keeps SQLite from copying it to every key, and a SELECT around what a condition compares
-- from computing it a second time for the condition (a SELECT that names no column of here does so no more since 3.46).
CREATE VIEW {pairs_view} AS /* {mark} */
SELECT {pair_names}, (SELECT coalesce(score, 0.0)) AS score, shared_keys, standard_error,
    CASE dbsim_verdict WHEN '{same}' THEN dbsim_verdict END AS decided
FROM (
    SELECT {candidate_names}, {score} AS score, coalesce({shared_keys}, 0) AS shared_keys,
        {standard_error} AS standard_error, {step} AS dbsim_step, {verdict} AS dbsim_verdict
    FROM (SELECT DISTINCT {pair_names} FROM (
        {candidates}
        UNION ALL SELECT {decision_sides} FROM {decisions} WHERE verdict = '{same}'
        UNION ALL SELECT {decision_sides_reversed} FROM {decisions} WHERE verdict = '{same}'
    )) AS p
    CROSS JOIN {signatures} AS a ON {a_is_candidate} CROSS JOIN {signatures} AS b ON {b_is_candidate}
    UNION ALL SELECT {nothing} WHERE 0
)
WHERE CASE dbsim_verdict WHEN '{same}' THEN 1 WHEN '{different}' THEN 0
    ELSE shared_keys > 0 AND score >= (SELECT {threshold} - {deviations} * standard_error - dbsim_step) END
