-- Rows of the table similar to a text, best first; the caller's rights on the table decide which. `exact` says that
-- the score is that of the texts; otherwise it is estimated, and far enough from the threshold. The last
-- arguments are the key of the row that the text belongs to, if there is one: that row is not found itself, and what
-- people decided about it counts.
CREATE FUNCTION {search}({text_arguments_open}, {threshold_argument} double precision DEFAULT {threshold}, {hits_argument} integer DEFAULT 10, {decided_arguments_open})
RETURNS TABLE ({key_types}, {score_name} double precision, {exact_name} boolean)
LANGUAGE plpgsql STABLE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS {body}
#variable_conflict use_column
DECLARE
    dbsim_question {signatures_view} := {sign}({text_numbers});
BEGIN
    {assign_decided}
    RETURN QUERY SELECT {near_columns} FROM {near}(dbsim_question, ARRAY[{text_numbers}]::text[], {search_name}.{threshold_argument}, {search_name}.{hits_argument})
        WITH ORDINALITY AS near ({near_columns}, dbsim_place)
        ORDER BY {score_name} DESC, dbsim_place LIMIT {search_name}.{hits_argument};
END
{body}
