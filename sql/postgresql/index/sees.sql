-- Whether the caller can see a row of the indexed table. PL/pgSQL binds names when it runs: the table can be altered,
-- renamed or dropped at any time. The caller's own rights and row-level security decide.
CREATE OR REPLACE FUNCTION {sees}({key_arguments}) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS {body}
BEGIN
    RETURN EXISTS (SELECT FROM {source} AS dbsim_source WHERE {source_is_argument});
END
{body}
