-- Functions replaced in this transaction that belong neither to this role nor to the owner of dbsim's tables.
SELECT p.oid::regprocedure::text AS name, p.proowner::regrole::text AS owner
FROM pg_proc p JOIN pg_class c ON c.oid = to_regclass('dbsim_index')
WHERE p.xmin = pg_current_xact_id()::xid AND p.proowner NOT IN (c.relowner, current_user::regrole)
