-- What people see of dbsim's objects in psql, DBeaver and the like: relations by their names, columns and functions by
-- patterns, the first that fits. Nothing is done for what has its comment already, so that no lock is taken twice.
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT c.oid::regclass AS name, CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END AS kind, said.words
        FROM unnest(ARRAY[{relations}]::text[]) AS wanted JOIN pg_class c ON c.oid = to_regclass(wanted)
        CROSS JOIN LATERAL (
            SELECT p.words FROM (VALUES {relation_comments}) AS p (place, pattern, words)
            WHERE c.relname ~ p.pattern ORDER BY p.place LIMIT 1) AS said
        WHERE pg_has_role(c.relowner, 'USAGE') AND obj_description(c.oid, 'pg_class') IS DISTINCT FROM said.words
    LOOP
        EXECUTE format('COMMENT ON %s %s IS %L', found.kind, found.name, found.words);
    END LOOP;
    FOR found IN
        SELECT c.oid::regclass AS name, a.attname, said.words
        FROM unnest(ARRAY[{relations}]::text[]) AS wanted JOIN pg_class c ON c.oid = to_regclass(wanted)
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        CROSS JOIN LATERAL (
            SELECT p.words FROM (VALUES {column_comments}) AS p (place, relation, pattern, words)
            WHERE c.relname ~ p.relation AND a.attname ~ p.pattern ORDER BY p.place LIMIT 1) AS said
        WHERE pg_has_role(c.relowner, 'USAGE') AND col_description(c.oid, a.attnum) IS DISTINCT FROM said.words
    LOOP
        EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', found.name, found.attname, found.words);
    END LOOP;
    FOR found IN
        SELECT p.oid::regprocedure AS name, said.words
        FROM pg_proc p CROSS JOIN LATERAL (
            SELECT x.words FROM (VALUES {function_comments}) AS x (place, pattern, words)
            WHERE p.proname ~ x.pattern ORDER BY x.place LIMIT 1) AS said
        WHERE p.proname = ANY (ARRAY[{functions}]::name[]) AND pg_has_role(p.proowner, 'USAGE')
          AND p.pronamespace = (SELECT c.relnamespace FROM pg_class c WHERE c.oid = to_regclass({catalogue}))
          AND obj_description(p.oid, 'pg_proc') IS DISTINCT FROM said.words
    LOOP
        EXECUTE format('COMMENT ON FUNCTION %s IS %L', found.name, found.words);
    END LOOP;
END
