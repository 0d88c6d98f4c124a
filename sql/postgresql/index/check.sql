-- Is this person in the table already? Rows that are, best first, with what speaks for and against it; the caller's rights
-- on the table decide which. Columns that the row lacks say nothing.
CREATE FUNCTION {check}("row" json, {threshold_argument} double precision DEFAULT {threshold}, {hits_argument} integer DEFAULT 10)
RETURNS TABLE ({key_types}, {score_name} double precision, {evidence_column} jsonb)
LANGUAGE plpgsql STABLE SECURITY INVOKER SET search_path = pg_catalog, pg_temp {planned_once} AS {body}
#variable_conflict use_column
DECLARE
    dbsim_question {signatures_view} := {sign}({row_texts_of_json});
BEGIN
    RETURN QUERY SELECT {near_key}, near.{score_name}, (
        SELECT {evidence}(dbsim_question, s) FROM {signatures_view} AS s WHERE {s_is_near})
    FROM {near}(dbsim_question, NULL, {check_name}.{threshold_argument}, {check_name}.{hits_argument}) AS near ({near_columns})
    ORDER BY near.{score_name} DESC, {near_key} LIMIT {check_name}.{hits_argument};
END
{body}
