-- Part of the trigger functions: the primary keys of the changed rows, or of the whole table, into the queue.
-- The queue must be there and be writable for the function's owner, and the key's names and types be those of the queue
-- when the function was made. An expression that names both tables tells it in a microsecond (looking up the queue's
-- name alone takes half of that): the server compiles it once, and anew when one of them has changed, when it may fail. For a
-- partition, or after a new name of the table, the catalogue is asked. Without its key or, when rows are compared, its
-- columns the whole table is asked for; without a queue nothing can be noted, and `status` says so.
DECLARE
    dbsim_known boolean := false;
BEGIN
BEGIN
    dbsim_known := {key_known} AND {queue_has_key} AND {queue_open};
EXCEPTION WHEN OTHERS THEN
    NULL;
END;
IF NOT dbsim_known THEN
    BEGIN
        IF to_regclass({queue_literal}) IS NULL OR NOT ({queue_has_key} AND {queue_open}) THEN
            RETURN NULL;
        END IF;
        dbsim_known := (
            SELECT count(*) FROM pg_attribute
            WHERE attrelid = TG_RELID AND attname IN ({key_names}) AND (attname, atttypid, atttypmod) IN ({key_types})
        ) = {key_count};
    EXCEPTION WHEN OTHERS THEN -- the schema may not be looked into any more
        RETURN NULL;
    END;
END IF;
IF dbsim_known AND TG_OP = 'INSERT' AND TG_LEVEL = 'STATEMENT' THEN -- first, because it is what there is most of
    INSERT INTO {queue} ({key}) SELECT {key} FROM dbsim_new;
ELSIF TG_OP = 'TRUNCATE' OR NOT dbsim_known THEN
    INSERT INTO {queue} DEFAULT VALUES;
ELSIF TG_LEVEL = 'ROW' THEN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO {queue} ({key}) VALUES ({new_key});
    END IF;
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND ({new_key_text}) IS DISTINCT FROM ({old_key_text}) THEN
        INSERT INTO {queue} ({key}) VALUES ({old_key});
    END IF;
ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO {queue} ({key}) SELECT {key} FROM dbsim_old;
ELSIF (SELECT count(*) FROM pg_attribute WHERE attrelid = TG_RELID AND attname IN ({column_names})) < {column_count} THEN
    INSERT INTO {queue} ({key}) SELECT {key} FROM dbsim_old UNION SELECT {key} FROM dbsim_new;
ELSE
    INSERT INTO {queue} ({key}) {changed_keys};
END IF;
-- A worker that sleeps holds this lock. NOTIFY makes commits wait for each other and cannot be prepared for a commit in
-- two phases: it is sent only while one sleeps, and none does on a server that allows such commits.
IF (CASE WHEN pg_try_advisory_lock_shared({wake}) THEN NOT pg_advisory_unlock_shared({wake}) ELSE true END) THEN
    PERFORM pg_notify({channel_literal}, '');
END IF;
END;
