-- Functions replaced in this transaction that belong neither to this role nor to the owner of dbsim's tables.
SELECT CAST(CAST(p.oid AS regprocedure) AS text) AS name, CAST(CAST(p.proowner AS regrole) AS text) AS owner
FROM pg_proc p JOIN pg_class c ON c.oid = to_regclass('dbsim_index')
WHERE p.xmin = CAST(pg_current_xact_id() AS xid) AND p.proowner NOT IN (c.relowner, CAST(CAST(current_user AS regrole) AS oid))
