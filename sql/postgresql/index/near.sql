-- Rows near a signature, best first: the statement behind search and similar.
CREATE FUNCTION {near}(question {signatures_view}, threshold double precision, hits integer)
RETURNS TABLE ({key_types}, score double precision)
LANGUAGE plpgsql STABLE SECURITY INVOKER SET search_path = pg_catalog, {home}, pg_temp AS $dbsim$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH candidates AS (
        SELECT a.* FROM {signatures_view} AS a
        WHERE ({key_is_asked}) AND ({a_key}) IS DISTINCT FROM ({question_key})
        LIMIT {max_candidates}
    )
    SELECT {key}, score FROM (SELECT {key}, {score_of_question} AS score FROM candidates) AS scored
    WHERE score >= coalesce({near_name}.threshold, {threshold})
    ORDER BY score DESC, {key} LIMIT {near_name}.hits;
END
$dbsim$
