-- Append the primary keys of the changed rows to the queue.
-- Runs with its owner's rights, because the writing role may have none on dbsim's tables. It must not raise: a missing
-- queue means a dropped index, a missing key column asks for a comparison of everything (a row without a key).
BEGIN
    IF to_regclass({queue_literal}) IS NULL OR to_regclass({catalogue_literal}) IS NULL THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'TRUNCATE' OR (
        SELECT count(*) FROM pg_attribute
        WHERE attrelid = TG_RELID AND attname = ANY ({key_array}) AND NOT attisdropped
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
    RETURN NULL;
END
