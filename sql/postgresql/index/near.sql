-- Rows near a signature, best first: the statement behind search and similar.
CREATE FUNCTION {near}(dbsim_question {signatures_view}, {threshold_argument} double precision, {hits_argument} integer)
RETURNS TABLE ({key_types}, {score_name} double precision)
LANGUAGE plpgsql STABLE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS {body}
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH candidates AS (
        SELECT a.* FROM {signatures_view} AS a
        WHERE ({key_is_asked}) AND ({a_key}) IS DISTINCT FROM ({question_key})
        LIMIT {max_candidates}
    )
    SELECT {key}, {score_name} FROM (SELECT {key}, {score_of_question} AS {score_name} FROM candidates) AS scored
    WHERE {score_name} >= coalesce({near_name}.{threshold_argument}, {threshold})
    ORDER BY {score_name} DESC, {key} LIMIT {near_name}.{hits_argument};
END
{body}
