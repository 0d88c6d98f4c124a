WITH passed AS MATERIALIZED (
    SELECT DISTINCT {numbered_keys} FROM (
{word_places}    UNION ALL
        SELECT {numbered_keys} FROM {tail} AS t WHERE EXISTS (SELECT FROM {signatures} WHERE {signature_is_t} AND (%s) OFFSET 0)
    ) AS found
)
SELECT {source_key} FROM passed CROSS JOIN LATERAL (
    SELECT {source_key}, ARRAY[{word_texts}] AS texts FROM {source} AS dbsim_source WHERE {source_is_numbered} OFFSET 0
) AS dbsim_source WHERE {home}.dbsim_holds(dbsim_source.texts, ARRAY[{profiles}]::text[], $1, $2)
