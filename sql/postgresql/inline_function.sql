-- Sign the changed rows in the transaction that changes them. Runs with its owner's rights, as the queue's function,
-- and falls back to the queue while the index or a new generation of it is being filled, while a worker holds the gate
-- (it waits for no lock), for more rows or longer texts than an application should wait for, for what is left when half
-- of the time is over that the caller's statement may take, and for anything that goes wrong: it must not raise.
CREATE OR REPLACE FUNCTION {function}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET row_security = off SET datestyle = 'ISO' AS {body}
-- {mark}
DECLARE
    {changed_arrays}
    dbsim_row record;
    dbsim_own record;
    dbsim_signed boolean := false;
    dbsim_noted boolean;
    dbsim_sliced boolean;
    dbsim_limit interval := current_setting('statement_timeout')::interval;
    dbsim_whole interval := coalesce(current_setting('transaction_timeout', true), '0')::interval;
    dbsim_end timestamptz;
    dbsim_pace interval := '{byte_time}';
    dbsim_started timestamptz := clock_timestamp();
    dbsim_bytes double precision := 100;
BEGIN
    BEGIN
        IF to_regclass({queue_literal}) IS NULL OR to_regclass({catalogue_literal}) IS NULL THEN
            RETURN NULL;
        END IF;
        dbsim_noted := to_regclass({noted_literal}) IS NOT NULL; -- groups are stored, see group_tables.py
        dbsim_sliced := {sliced}; -- see slice_tables.py
    EXCEPTION WHEN OTHERS THEN -- the schema may not be looked into any more
        RETURN NULL;
    END;
    {row_unchanged}
    BEGIN
        -- a view in the table's place would run its owner's functions with this function's rights
        IF TG_LEVEL = 'STATEMENT'
            AND (SELECT state = 'ready' AND wanted IS NULL FROM {catalogue} WHERE name = {index_literal})
            AND (SELECT relkind IN ('r', 'p') FROM pg_class WHERE oid = to_regclass({source_literal}))
            AND pg_try_advisory_xact_lock_shared({gate}) THEN
            IF TG_OP = 'TRUNCATE' THEN
                IF dbsim_noted THEN
                    INSERT INTO {noted}
                    SELECT g.id, -1, {noted_values} FROM {signatures} AS s CROSS JOIN {pairings} AS g WHERE {has_features};
                END IF;
                DELETE FROM {signatures};
                IF dbsim_sliced THEN
                    DELETE FROM {places};
                    DELETE FROM {tail};
                END IF;
                DELETE FROM {quarantine} WHERE index_name = {index_literal};
                RETURN NULL;
            ELSIF TG_OP = 'INSERT' THEN
                SELECT {collected} FROM (SELECT {key} FROM dbsim_new LIMIT {row_limit} + 1) AS k;
            ELSIF TG_OP = 'DELETE' THEN
                SELECT {collected} FROM (SELECT {key} FROM dbsim_old LIMIT {row_limit} + 1) AS k;
            ELSE
                SELECT {collected} FROM ({changed_keys} LIMIT {row_limit} + 1) AS k ({key});
            END IF;
            IF coalesce(cardinality(dbsim_key_1), 0) <= {row_limit} THEN
                dbsim_end := statement_timestamp() + CASE WHEN dbsim_limit > '0' THEN dbsim_limit / 2 ELSE '{time_limit}' END;
                IF dbsim_whole > '0' THEN
                    dbsim_end := least(dbsim_end, transaction_timestamp() + dbsim_whole / 2);
                END IF;
                IF dbsim_limit > '0' OR dbsim_whole > '0' THEN
                    dbsim_pace := '{byte_time_unknown}';
                END IF;
                -- the table is read again: a trigger of the application may have changed the rows in the meantime
                IF dbsim_noted THEN
                    INSERT INTO {noted}
                    SELECT g.id, -1, {noted_values} FROM {signatures} AS s JOIN {changed} ON {s_is_k}
                    CROSS JOIN {pairings} AS g WHERE {has_features};
                END IF;
                DELETE FROM {signatures} AS s USING {changed} WHERE {s_is_k};
                IF dbsim_sliced THEN
                    DELETE FROM {places} AS p USING {changed} WHERE {p_is_k};
                    INSERT INTO {tail} ({numbered_keys}) SELECT {k_key} FROM {changed};
                END IF;
                FOR dbsim_row IN
                    SELECT {k_key}, ARRAY[{source_texts}] AS dbsim_texts, {text_length} AS dbsim_length
                    FROM {source} AS dbsim_source JOIN {changed} ON {source_is_k}
                LOOP
                    IF dbsim_row.dbsim_length > {text_limit}
                        OR clock_timestamp() + dbsim_row.dbsim_length * dbsim_pace > dbsim_end THEN
                        INSERT INTO {queue} ({key}) VALUES ({row_key});
                    ELSE
                        dbsim_own := {sign}({row_texts});
                        INSERT INTO {signatures} ({key}, {derived}) VALUES ({row_key}, {own_derived});
                        dbsim_bytes := dbsim_bytes + dbsim_row.dbsim_length;
                        dbsim_pace := greatest('{byte_time}', 2 * (clock_timestamp() - dbsim_started) / dbsim_bytes);
                    END IF;
                END LOOP;
                IF dbsim_noted THEN
                    INSERT INTO {noted}
                    SELECT g.id, 1, {noted_values} FROM {signatures} AS s JOIN {changed} ON {s_is_k}
                    CROSS JOIN {pairings} AS g WHERE {has_features};
                END IF;
                dbsim_signed := true;
            END IF;
        END IF;
    EXCEPTION WHEN OTHERS THEN
        dbsim_signed := false;
    END;
    IF NOT dbsim_signed THEN
        {queue_changes}
    END IF;
    RETURN NULL;
END
{body}
