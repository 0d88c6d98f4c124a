-- A write aimed at a partition does not fire the parent's triggers, so each partition has its own. Triggers for each
-- row are copied to the partitions by the server; an UPDATE that moves a row to another partition does not fire them.
FOR relation, is_source, together IN
    SELECT c.oid::regclass::text, c.oid = {source}, {inline} OR c.relkind = 'p' OR c.relispartition FROM ({tree}) AS t (relid)
    JOIN pg_class c ON c.oid = t.relid ORDER BY 1
LOOP
    {triggers}
    IF together THEN
        {update_together}
    ELSE
        {update_row}
    END IF;
    {enable}
    {door}
    IF is_source THEN
        {replica}
    END IF;
END LOOP;
-- what was a partition, or bore the table's name, before
FOR relation IN {strays} LOOP
    {drop_strays}
END LOOP;
