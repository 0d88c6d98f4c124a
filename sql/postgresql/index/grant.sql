-- Let a role search this index from SQL: it will see what the table itself shows it, and nothing else.
CREATE FUNCTION {grant}(role regrole) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, {home}, pg_temp AS {body}
BEGIN
    EXECUTE {grant_views} || role;
    EXECUTE {grant_functions} || role;
END
{body}
