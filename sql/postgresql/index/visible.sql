-- The keys of the rows that the caller can see, with all their indexed columns. PL/pgSQL binds names when it runs: the
-- table can be altered, renamed or dropped at any time. The caller's own rights and row-level security decide.
CREATE OR REPLACE FUNCTION {visible}() RETURNS TABLE ({key_types})
LANGUAGE plpgsql STABLE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS {body}
#variable_conflict use_column
-- {mark}
BEGIN
    RETURN QUERY SELECT {source_key} FROM {source} AS dbsim_source WHERE true OR ({source_read}) IS NULL;
END
{body}
