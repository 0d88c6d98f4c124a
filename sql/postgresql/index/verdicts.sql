-- The rows that decisions in force name together with a row, given by its primary key, as far as the caller may know.
CREATE FUNCTION {verdicts}({key_arguments}) RETURNS TABLE ({key_types}, {verdict_name} text)
LANGUAGE plpgsql STABLE STRICT SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS {body}
#variable_conflict use_column
BEGIN
    IF has_table_privilege({decided_literal}::regclass, 'SELECT') THEN
        RETURN QUERY
            SELECT {b_key}, d.verdict FROM {decided_view} AS d JOIN {signatures_view} AS a ON {decided_a_is_argument} AND {a_is_argument}
            JOIN {signatures_view} AS b ON {decided_in_order} WHERE {counts}
            UNION ALL
            SELECT {b_key}, d.verdict FROM {decided_view} AS d JOIN {signatures_view} AS a ON {decided_b_is_argument} AND {a_is_argument}
            JOIN {signatures_view} AS b ON {decided_in_reverse} WHERE {counts};
    END IF;
END
{body}
