-- Part of the block that makes triggers: their function, which keeps its owner when it is replaced, writes the queue with
-- the rights of that role. It may have lost them, and row-level security forced on every table keeps out even an owner.
IF NOT has_table_privilege(
    (SELECT proowner FROM pg_proc WHERE oid = to_regprocedure({function_literal})), to_regclass({queue_literal}), 'INSERT')
THEN
    EXECUTE format('GRANT INSERT ON %s TO %I', to_regclass({queue_literal}),
        (SELECT pg_get_userbyid(proowner) FROM pg_proc WHERE oid = to_regprocedure({function_literal})));
END IF;
IF (SELECT relrowsecurity AND NOT pg_has_role(f.proowner, q.relowner, 'USAGE') OR relforcerowsecurity
    FROM pg_class q, pg_proc f WHERE q.oid = to_regclass({queue_literal}) AND f.oid = to_regprocedure({function_literal})) THEN
    EXECUTE format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY', to_regclass({queue_literal}));
END IF;
