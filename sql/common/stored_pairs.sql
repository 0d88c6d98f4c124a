-- The pairs that `dbsim duplicates` found, each once: those of different texts as they are stored, rows with equal texts,
-- and what people decided to be the same. Nothing is compared, and what they decided to be different is left out.
SELECT {keys}, e.score AS score, e.exact AS exact, CAST(NULL AS text) AS decided
FROM {edges} AS e
JOIN {signatures} AS a ON a.{fingerprint} = e.a JOIN {signatures} AS b ON b.{fingerprint} = e.b
WHERE e.pairing = {published} AND {undecided}
UNION ALL
SELECT {keys}, {copy_score}, {copy_exact}, NULL
FROM {signatures} AS a JOIN {signatures} AS b ON b.{fingerprint} = a.{fingerprint} AND {a_before_b}
WHERE {undecided}{enough}
UNION ALL
SELECT {keys}, CASE WHEN a.{fingerprint} = b.{fingerprint} THEN {copy_score} ELSE coalesce(e.score, d.score, 0.0) END,
    coalesce(e.exact, {copy_exact} AND a.{fingerprint} = b.{fingerprint}), d.verdict
FROM {decisions} AS d JOIN {signatures} AS a ON 1 = 1 JOIN {signatures} AS b ON {same_in_order}
LEFT JOIN {edges} AS e ON e.pairing = {published} AND (
    (e.a = a.{fingerprint} AND e.b = b.{fingerprint}) OR (e.a = b.{fingerprint} AND e.b = a.{fingerprint}))
