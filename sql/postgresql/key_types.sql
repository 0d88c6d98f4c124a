-- The columns of one of dbsim's tables and their types, which are named with their schema unless it is pg_catalog.
SELECT a.attname AS name, CASE n.nspname WHEN 'pg_catalog' THEN format_type(a.atttypid, a.atttypmod)
                          ELSE quote_ident(n.nspname) || '.' || quote_ident(t.typname) END AS type
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE a.attrelid = to_regclass(CAST(:table AS text)) AND a.attnum > 0
