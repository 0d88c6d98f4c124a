-- Part of the trigger functions: nothing to do for a row none of whose indexed columns has changed, as it was stored in
-- the end (BEFORE triggers have run). The block catches a column that is gone, and begins no transaction of its own.
IF TG_LEVEL = 'ROW' THEN
    IF TG_OP = 'UPDATE' THEN
        BEGIN
            IF NOT ({row_changed}) THEN
                RETURN NULL;
            END IF;
        EXCEPTION WHEN OTHERS THEN
            NULL;
        END;
    END IF;
    -- the apply worker of a subscription: a queue that is itself replicated gets these rows from the publisher
    IF current_setting('session_replication_role') = 'replica' THEN
        BEGIN
            IF EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = to_regclass({queue_literal})) THEN
                RETURN NULL;
            END IF;
        EXCEPTION WHEN OTHERS THEN -- the schema may not be looked into any more
            NULL;
        END;
    END IF;
END IF;
