-- A new table of dbsim's, and the index of its primary key, into a tablespace; both are empty still.
DECLARE
    dbsim_index regclass;
BEGIN
    EXECUTE format('ALTER TABLE %s SET TABLESPACE %I', {table}::regclass, {tablespace});
    FOR dbsim_index IN SELECT i.indexrelid FROM pg_index AS i WHERE i.indrelid = {table}::regclass LOOP
        EXECUTE format('ALTER INDEX %s SET TABLESPACE %I', dbsim_index, {tablespace});
    END LOOP;
END
