-- Rows similar to a row of the table, given by its primary key; one not indexed yet is signed now.
CREATE FUNCTION {similar}({key_arguments}, {threshold_argument} double precision DEFAULT {threshold}, {hits_argument} integer DEFAULT 10)
RETURNS TABLE ({key_types}, {score_name} double precision, {exact_name} boolean)
LANGUAGE plpgsql STABLE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS {body}
#variable_conflict use_column
DECLARE
    dbsim_question {signatures_view};
    dbsim_texts text[];
BEGIN
    IF {reads_texts} THEN
        SELECT ARRAY[{source_texts}] INTO dbsim_texts FROM {source} AS dbsim_source WHERE {source_is_argument};
    END IF;
    SELECT a.* INTO dbsim_question FROM {signatures_view} AS a WHERE {a_is_argument};
    IF NOT FOUND THEN
        SELECT (signed.own).* INTO dbsim_question FROM (
            SELECT {sign}({source_texts}) AS own FROM {source} AS dbsim_source WHERE {source_is_argument}
        ) AS signed;
        {assign_key}
    END IF;
    RETURN QUERY SELECT {near_columns} FROM {near}(dbsim_question, dbsim_texts, {similar_name}.{threshold_argument}, {similar_name}.{hits_argument})
        WITH ORDINALITY AS near ({near_columns}, dbsim_place)
        ORDER BY {score_name} DESC, dbsim_place LIMIT {similar_name}.{hits_argument};
END
{body}
