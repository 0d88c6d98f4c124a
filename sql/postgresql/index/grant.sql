-- Let a role search this index from SQL: it will see what the table itself shows it, and nothing else.
CREATE FUNCTION {grant}(role regrole) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS {body}
DECLARE
    found regprocedure;
BEGIN
    EXECUTE {grant_views} || role;
    FOR found IN
        SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = {home_literal}::regnamespace AND p.proname IN ({granted_functions})
          AND p.proowner = (SELECT f.proowner FROM pg_proc f WHERE f.oid = {grant_literal}::regprocedure)
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', found, role);
    END LOOP;
END
{body}
