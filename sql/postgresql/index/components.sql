-- Groups of near-duplicates from SQL alone: rows that a chain of pairs connects, numbered; the first row is the lowest
-- key. Scores are those of the view of pairs. Labels spread over the pairs until none changes, so that the work is that
-- of the pairs times a few rounds. Groups that people keep and act on are made by "dbsim duplicates".
CREATE FUNCTION {components}({threshold_argument} double precision DEFAULT {threshold})
RETURNS TABLE ({group_name} bigint, {key_types})
LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS {body}
#variable_conflict use_column
DECLARE
    dbsim_changed bigint := 1;
BEGIN
    DROP TABLE IF EXISTS pg_temp.dbsim_component_pair, pg_temp.dbsim_component, pg_temp.dbsim_component_edge;
    CREATE TEMP TABLE dbsim_component_pair ON COMMIT DROP AS
    SELECT * FROM {pairs_view} WHERE score >= {components_name}.{threshold_argument};
    CREATE TEMP TABLE dbsim_component ON COMMIT DROP AS
    SELECT {key}, row_number() OVER (ORDER BY {key}) AS dbsim_label, row_number() OVER (ORDER BY {key}) AS dbsim_row
    FROM (SELECT DISTINCT {a_names} FROM pg_temp.dbsim_component_pair) AS one ({key});
    CREATE UNIQUE INDEX ON pg_temp.dbsim_component (dbsim_row);
    CREATE TEMP TABLE dbsim_component_edge ON COMMIT DROP AS
    SELECT x.dbsim_row AS a, y.dbsim_row AS b FROM pg_temp.dbsim_component_pair AS p
    JOIN pg_temp.dbsim_component AS x ON {x_is_a} JOIN pg_temp.dbsim_component AS y ON {y_is_b};
    WHILE dbsim_changed > 0 LOOP
        UPDATE pg_temp.dbsim_component AS one SET dbsim_label = lower.label FROM (
            SELECT e.a, min(other.dbsim_label) AS label FROM pg_temp.dbsim_component_edge AS e
            JOIN pg_temp.dbsim_component AS other ON other.dbsim_row = e.b GROUP BY e.a
        ) AS lower WHERE one.dbsim_row = lower.a AND lower.label < one.dbsim_label;
        GET DIAGNOSTICS dbsim_changed = ROW_COUNT;
        UPDATE pg_temp.dbsim_component AS one SET dbsim_label = root.dbsim_label FROM pg_temp.dbsim_component AS root
        WHERE root.dbsim_row = one.dbsim_label AND root.dbsim_label < one.dbsim_label;
    END LOOP;
    RETURN QUERY SELECT dense_rank() OVER (ORDER BY one.dbsim_label), {one_key} FROM pg_temp.dbsim_component AS one
    ORDER BY 1, {one_key};
    DROP TABLE pg_temp.dbsim_component_pair, pg_temp.dbsim_component, pg_temp.dbsim_component_edge;
END
{body}
