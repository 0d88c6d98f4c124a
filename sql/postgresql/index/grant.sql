-- Let a role search this index: it will see what the table itself shows it, and nothing else; of the catalogue all but
-- the secret. With `decides` it may also write what people decide about the rows it sees. Returns what the role lacks
-- still, as statements for the owners of those schemas and tables.
CREATE FUNCTION {grant}(role regrole, decides boolean DEFAULT false) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS {body}
DECLARE
    found regprocedure;
    source oid := to_regclass({source_literal});
BEGIN
    EXECUTE {grant_views} || role;
    EXECUTE {grant_catalogue} || role;
    IF decides THEN
        EXECUTE {grant_deciding} || role;
    END IF;
    FOR found IN
        SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = {home_literal}::regnamespace AND p.proname IN ({granted_functions})
          AND p.proowner = (SELECT f.proowner FROM pg_proc f WHERE f.oid = {grant_literal}::regprocedure)
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', found, role);
    END LOOP;
    RETURN QUERY
        SELECT DISTINCT format('GRANT USAGE ON SCHEMA %s TO %s', needed.schema, role)
        FROM (SELECT {home_literal}::regnamespace AS schema
              UNION SELECT c.relnamespace::regnamespace FROM pg_class c WHERE c.oid = source) AS needed
        WHERE NOT has_schema_privilege(role, needed.schema::oid, 'USAGE');
    IF source IS NOT NULL AND NOT has_table_privilege(role, source, 'SELECT') AND EXISTS (
        SELECT FROM unnest(ARRAY[{read_columns}]::name[]) AS wanted
        JOIN pg_attribute a ON a.attrelid = source AND a.attname = wanted
        WHERE NOT has_column_privilege(role, source, a.attnum, 'SELECT')
    ) THEN
        RETURN NEXT format('GRANT SELECT ON %s TO %s', source::regclass, role);
    END IF;
END
{body}
