-- Rows of the table similar to a text, best first; the caller's rights on the table decide which.
CREATE FUNCTION {search}({text_arguments_open}, {threshold_argument} double precision DEFAULT {threshold}, {hits_argument} integer DEFAULT 10)
RETURNS TABLE ({key_types}, {score_name} double precision)
LANGUAGE plpgsql STABLE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS {body}
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT * FROM {near}({sign}({text_numbers}), {search_name}.{threshold_argument}, {search_name}.{hits_argument});
END
{body}
