-- Sign rows without a worker: of an index that is being filled the next ones in key order, then what waits in the queue.
-- Returns how many; 0 says that nothing is left and the index is ready. A worker of dbsim's may run beside it: both
-- take the same locks. A request to compare everything (a row without a key) starts the filling again.
CREATE FUNCTION {fill}(rows integer DEFAULT 10000) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, pg_temp SET row_security = off SET datestyle = 'ISO' AS {body}
#variable_conflict use_column
DECLARE
    {changed_arrays}
    dbsim_state text;
    dbsim_wanted integer;
    dbsim_done integer := 0;
    dbsim_noted boolean := to_regclass({noted_literal}) IS NOT NULL; -- groups are stored, see group_tables.py
    dbsim_sliced boolean := {sliced}; -- see slice_tables.py
BEGIN
    PERFORM pg_advisory_xact_lock_shared({space}, {stripes});
    PERFORM pg_advisory_xact_lock({gate});
    PERFORM pg_advisory_xact_lock({space}, stripe) FROM generate_series(0, {stripes} - 1) AS stripe;
    SELECT i.state, i.wanted INTO dbsim_state, dbsim_wanted FROM {home}.dbsim_index AS i
    WHERE i.name = {name} AND i.generation = {generation};
    IF dbsim_state IS NULL OR dbsim_wanted IS NOT NULL THEN
        RAISE 'the options of index % are being changed: run "dbsim sync"', {name};
    END IF;
    IF EXISTS (SELECT FROM {queue} AS q WHERE {q_no_key}) THEN
        DELETE FROM {queue} AS q WHERE {q_no_key};
        IF dbsim_noted THEN
            INSERT INTO {noted}
            SELECT g.id, -1, {noted_values} FROM {signatures} AS s CROSS JOIN {pairings} AS g WHERE {has_features};
        END IF;
        DELETE FROM {signatures};
        IF dbsim_sliced THEN
            DELETE FROM {places};
            DELETE FROM {tail};
        END IF;
        UPDATE {home}.dbsim_index AS i SET state = 'filling' WHERE i.name = {name};
        dbsim_state := 'filling';
    END IF;
    IF dbsim_state = 'filling' THEN
        SELECT {collected} FROM (
            SELECT {source_key} FROM {source} AS dbsim_source
            WHERE NOT EXISTS (SELECT FROM {signatures})
               OR ({source_key}) > (SELECT {key} FROM {signatures} ORDER BY {key_descending} LIMIT 1)
            ORDER BY {source_key} LIMIT {fill_name}.rows
        ) AS k;
        dbsim_done := coalesce(cardinality(dbsim_key_1), 0);
    END IF;
    IF dbsim_done = 0 THEN
        WITH claimed AS (
            DELETE FROM {queue} WHERE ctid = ANY (ARRAY(SELECT ctid FROM {queue} LIMIT {fill_name}.rows)) RETURNING {key}
        )
        SELECT {collected} FROM (SELECT DISTINCT {key} FROM claimed) AS k;
        dbsim_done := coalesce(cardinality(dbsim_key_1), 0);
        IF dbsim_noted AND dbsim_done > 0 THEN
            INSERT INTO {noted}
            SELECT g.id, -1, {noted_values} FROM {signatures} AS s JOIN {changed} ON {s_is_k}
            CROSS JOIN {pairings} AS g WHERE {has_features};
        END IF;
        DELETE FROM {signatures} AS s USING {changed} WHERE {s_is_k};
    END IF;
    IF dbsim_done = 0 THEN
        IF dbsim_state = 'filling' THEN
            {create_indexes}
            ANALYZE {signatures};
            UPDATE {home}.dbsim_index AS i SET state = 'ready' WHERE i.name = {name};
        END IF;
        RETURN 0;
    END IF;
    IF dbsim_sliced THEN
        DELETE FROM {places} AS p USING {changed} WHERE {p_is_k};
        INSERT INTO {tail} ({numbered_keys}) SELECT {k_key} FROM {changed};
    END IF;
    INSERT INTO {signatures} ({key}, {derived})
    SELECT {k_key}, {own_derived} FROM {source} AS dbsim_source JOIN {changed} ON {source_is_k}
    CROSS JOIN LATERAL {sign}({source_texts}) AS dbsim_own;
    IF dbsim_noted THEN
        INSERT INTO {noted}
        SELECT g.id, 1, {noted_values} FROM {signatures} AS s JOIN {changed} ON {s_is_k}
        CROSS JOIN {pairings} AS g WHERE {has_features};
    END IF;
    RETURN dbsim_done;
END
{body}
