-- Part of the trigger functions: the primary keys of the changed rows, or of the whole table, into the queue.
IF TG_OP = 'TRUNCATE' OR (
    SELECT count(*) FROM pg_attribute s
    JOIN pg_attribute q USING (attname, atttypid, atttypmod)
    WHERE s.attrelid = TG_RELID AND q.attrelid = to_regclass({queue_literal})
      AND attname = ANY ({key_array}) AND NOT s.attisdropped
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
