WITH passed AS MATERIALIZED (SELECT {key}, %s AS dbsim_doubtful FROM {signatures_view} WHERE %s)
SELECT {passed_key} FROM passed CROSS JOIN LATERAL (
    SELECT CASE WHEN passed.dbsim_doubtful THEN ARRAY[{word_texts}] END AS texts
    FROM {source} AS dbsim_source WHERE {source_is_passed} OFFSET 0
) AS now WHERE now.texts IS NULL OR {home}.dbsim_holds(now.texts, ARRAY[{profiles}]::text[], $1, $2)
