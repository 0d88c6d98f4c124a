-- Groups of near-duplicates from SQL alone: rows that a chain of pairs connects, numbered; the first row is the lowest
-- key. Scores are those of the view of pairs. Labels spread over the pairs until none changes, so that the work is that
-- of the pairs times a few rounds. What people decided to be the same is a pair whatever its score; where rows that are
-- different came together, through others, the pairs are taken one by one, the most similar first, and those that would
-- bring them together left out. Groups that people keep and act on are made by "dbsim duplicates".
CREATE FUNCTION {components}({threshold_argument} double precision DEFAULT {threshold})
RETURNS TABLE ({group_name} bigint, {key_types})
LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS {body}
#variable_conflict use_column
DECLARE
    dbsim_changed bigint := 1;
    dbsim_edge record;
BEGIN
    DROP TABLE IF EXISTS pg_temp.dbsim_component_pair, pg_temp.dbsim_component, pg_temp.dbsim_component_edge,
        pg_temp.dbsim_component_apart, pg_temp.dbsim_component_wrong;
    CREATE TEMP TABLE dbsim_component_pair ON COMMIT DROP AS
    SELECT * FROM {pairs_view} WHERE score >= {components_name}.{threshold_argument} OR decided = '{same}';
    CREATE TEMP TABLE dbsim_component ON COMMIT DROP AS
    SELECT {key}, row_number() OVER (ORDER BY {key}) AS dbsim_label, row_number() OVER (ORDER BY {key}) AS dbsim_row
    FROM (SELECT DISTINCT {a_names} FROM pg_temp.dbsim_component_pair) AS one ({key});
    CREATE UNIQUE INDEX ON pg_temp.dbsim_component (dbsim_row);
    CREATE TEMP TABLE dbsim_component_edge ON COMMIT DROP AS
    SELECT x.dbsim_row AS a, y.dbsim_row AS b, p.decided, p.score FROM pg_temp.dbsim_component_pair AS p
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
    CREATE TEMP TABLE dbsim_component_apart (a bigint, b bigint) ON COMMIT DROP;
    IF has_table_privilege({decided_literal}::regclass, 'SELECT') THEN
        INSERT INTO pg_temp.dbsim_component_apart
        SELECT x.dbsim_row, y.dbsim_row FROM {decided_view} AS d
        JOIN {signatures_view} AS a ON true JOIN {signatures_view} AS b ON {decided_in_order}
        JOIN pg_temp.dbsim_component AS x ON {x_is_row_a} JOIN pg_temp.dbsim_component AS y ON {y_is_row_b}
        WHERE d.verdict = '{different}';
    END IF;
    CREATE TEMP TABLE dbsim_component_wrong ON COMMIT DROP AS
    SELECT DISTINCT x.dbsim_label AS label FROM pg_temp.dbsim_component_apart AS p
    JOIN pg_temp.dbsim_component AS x ON x.dbsim_row = p.a JOIN pg_temp.dbsim_component AS y ON y.dbsim_row = p.b
    WHERE x.dbsim_label = y.dbsim_label;
    IF EXISTS (SELECT FROM pg_temp.dbsim_component_wrong) THEN
        CREATE INDEX ON pg_temp.dbsim_component (dbsim_label);
    END IF;
    FOR dbsim_edge IN
        WITH apart AS (
            UPDATE pg_temp.dbsim_component AS one SET dbsim_label = one.dbsim_row
            FROM pg_temp.dbsim_component_wrong AS wrong WHERE one.dbsim_label = wrong.label RETURNING one.dbsim_row
        )
        SELECT e.a, e.b FROM pg_temp.dbsim_component_edge AS e JOIN apart ON apart.dbsim_row = e.a WHERE e.a < e.b
        ORDER BY e.decided NULLS LAST, e.score DESC, e.a, e.b
    LOOP
        UPDATE pg_temp.dbsim_component AS one SET dbsim_label = least(x.dbsim_label, y.dbsim_label)
        FROM pg_temp.dbsim_component AS x, pg_temp.dbsim_component AS y
        WHERE x.dbsim_row = dbsim_edge.a AND y.dbsim_row = dbsim_edge.b
          AND one.dbsim_label = greatest(x.dbsim_label, y.dbsim_label) AND x.dbsim_label <> y.dbsim_label
          AND NOT EXISTS (
              SELECT FROM pg_temp.dbsim_component_apart AS p
              JOIN pg_temp.dbsim_component AS v ON v.dbsim_row = p.a JOIN pg_temp.dbsim_component AS w ON w.dbsim_row = p.b
              WHERE v.dbsim_label IN (x.dbsim_label, y.dbsim_label) AND w.dbsim_label IN (x.dbsim_label, y.dbsim_label));
    END LOOP;
    -- rows that nothing is left with are in no group
    RETURN QUERY SELECT dense_rank() OVER (ORDER BY one.dbsim_label), {one_key} FROM pg_temp.dbsim_component AS one
    WHERE EXISTS (SELECT FROM pg_temp.dbsim_component AS other
                  WHERE other.dbsim_label = one.dbsim_label AND other.dbsim_row <> one.dbsim_row)
    ORDER BY 1, {one_key};
    DROP TABLE pg_temp.dbsim_component_pair, pg_temp.dbsim_component, pg_temp.dbsim_component_edge,
        pg_temp.dbsim_component_apart, pg_temp.dbsim_component_wrong;
END
{body}
