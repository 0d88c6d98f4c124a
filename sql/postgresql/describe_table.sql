-- One row per column of a table: name, type with its collation, place in the primary key.
SELECT n.nspname AS schema, c.relkind::text AS kind, a.attname AS name,
       format_type(a.atttypid, a.atttypmod) AS type,
       CASE WHEN a.attcollation <> t.typcollation AND a.attcollation <> 0
            THEN (SELECT quote_ident(cn.nspname) || '.' || quote_ident(co.collname)
                  FROM pg_collation co JOIN pg_namespace cn ON cn.oid = co.collnamespace
                  WHERE co.oid = a.attcollation) END AS collation,
       array_position(i.indkey::int2[], a.attnum) AS place
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND c.relname = :table
  AND CASE WHEN CAST(:schema AS text) IS NULL THEN pg_table_is_visible(c.oid) ELSE n.nspname = :schema END
ORDER BY a.attnum
