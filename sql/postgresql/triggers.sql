{function}
{revoke}
-- a write aimed at a partition does not fire the parent's triggers, so each partition has its own
FOR relation IN
    SELECT {source}::regclass::text
    UNION
    SELECT c.oid::regclass::text FROM pg_partition_tree({source}::regclass) t JOIN pg_class c ON c.oid = t.relid
    WHERE c.relkind IN ('r', 'p')
    ORDER BY 1
LOOP
    {triggers}
END LOOP;
