-- Sign the changed rows in the transaction that changes them. Runs with its owner's rights, as the queue's function,
-- and falls back to the queue while the index or a new generation of it is being filled, while a worker holds the gate
-- (it waits for no lock), for more rows or longer texts than an application should wait for, and for anything that goes
-- wrong: it must not raise.
CREATE OR REPLACE FUNCTION {function}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, {home}, pg_temp SET row_security = off AS {body}
DECLARE
    {changed_arrays}
    signed boolean := false;
    noted boolean := to_regclass({noted_literal}) IS NOT NULL; -- groups of near-duplicates are stored, see group_tables.py
BEGIN
    IF to_regclass({queue_literal}) IS NULL OR to_regclass({catalogue_literal}) IS NULL THEN
        RETURN NULL;
    END IF;
    IF (SELECT state = 'ready' AND wanted IS NULL FROM {catalogue} WHERE name = {index_literal})
        AND pg_try_advisory_xact_lock_shared({gate}) THEN
        BEGIN
            IF TG_OP = 'TRUNCATE' THEN
                IF noted THEN
                    INSERT INTO {noted}
                    SELECT g.id, -1, {noted_values} FROM {signatures} AS s CROSS JOIN {pairings} AS g WHERE {has_features};
                END IF;
                DELETE FROM {signatures};
                DELETE FROM {quarantine} WHERE index_name = {index_literal};
                RETURN NULL;
            ELSIF TG_OP = 'INSERT' THEN
                SELECT {collected} FROM (SELECT {key} FROM dbsim_new LIMIT {row_limit} + 1) AS k;
            ELSIF TG_OP = 'DELETE' THEN
                SELECT {collected} FROM (SELECT {key} FROM dbsim_old LIMIT {row_limit} + 1) AS k;
            ELSE
                SELECT {collected} FROM (
                    SELECT {key} FROM dbsim_old UNION SELECT {key} FROM dbsim_new LIMIT {row_limit} + 1) AS k;
            END IF;
            IF coalesce(cardinality(dbsim_key_1), 0) <= {row_limit} THEN
                -- the table is read again: a trigger of the application may have changed the rows in the meantime
                IF noted THEN
                    INSERT INTO {noted}
                    SELECT g.id, -1, {noted_values} FROM {signatures} AS s JOIN {changed} ON {s_is_k}
                    CROSS JOIN {pairings} AS g WHERE {has_features};
                END IF;
                DELETE FROM {signatures} AS s USING {changed} WHERE {s_is_k};
                INSERT INTO {queue} ({key})
                SELECT {k_key} FROM {source} AS dbsim_source JOIN {changed} ON {source_is_k}
                WHERE {text_length} > {text_limit};
                INSERT INTO {signatures} ({key}, {derived})
                SELECT {k_key}, {signed_derived} FROM (
                    SELECT {k_key}, {sign}({source_texts}) AS dbsim_signed
                    FROM {source} AS dbsim_source JOIN {changed} ON {source_is_k}
                    WHERE {text_length} <= {text_limit} OFFSET 0
                ) AS k;
                IF noted THEN
                    INSERT INTO {noted}
                    SELECT g.id, 1, {noted_values} FROM {signatures} AS s JOIN {changed} ON {s_is_k}
                    CROSS JOIN {pairings} AS g WHERE {has_features};
                END IF;
                signed := true;
            END IF;
        EXCEPTION WHEN OTHERS THEN
            signed := false;
        END;
    END IF;
    IF NOT signed THEN
        {queue_changes}
    END IF;
    RETURN NULL;
END
{body}
