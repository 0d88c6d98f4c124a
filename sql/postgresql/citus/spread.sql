-- A new table of dbsim's on Citus, in the nodes where {like} has its shards: a row's signature lies beside the row.
-- Beside a reference table, or without {like}, it is a reference table: a copy on every node, so that anything joins it.
DECLARE
    dbsim_by text;
BEGIN
    IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = {table}::regclass) THEN
        RETURN;
    END IF;
    SELECT column_to_column_name(p.logicalrelid, p.partkey) INTO dbsim_by FROM pg_dist_partition AS p
    WHERE p.logicalrelid = to_regclass({like}) AND p.partkey IS NOT NULL;
    IF dbsim_by IS NULL THEN
        PERFORM create_reference_table({table}::regclass);
    ELSE
        PERFORM create_distributed_table({table}::regclass, dbsim_by, colocate_with => {like});
    END IF;
END
