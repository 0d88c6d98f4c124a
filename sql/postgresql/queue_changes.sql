-- Part of the trigger functions: the primary keys of the changed rows, or of the whole table, into the queue.
-- The key's names and types are those of the queue when the function was made; a join to read them costs some microseconds a write.
IF TG_OP = 'TRUNCATE' OR (
    SELECT count(*) FROM pg_attribute
    WHERE attrelid = TG_RELID AND (attname, atttypid, atttypmod) IN ({key_types})
) < {key_count} THEN
    INSERT INTO {queue} DEFAULT VALUES;
ELSIF TG_OP = 'INSERT' THEN
    INSERT INTO {queue} ({key}) SELECT {key} FROM dbsim_new;
ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO {queue} ({key}) SELECT {key} FROM dbsim_old;
ELSE
    INSERT INTO {queue} ({key}) SELECT {key} FROM dbsim_old UNION SELECT {key} FROM dbsim_new;
END IF;
-- NOTIFY makes commits wait for each other, so it is sent only while a worker sleeps.
IF (SELECT listening FROM {catalogue} WHERE name = {index_literal}) THEN
    PERFORM pg_notify({channel_literal}, '');
END IF;
