-- The door for applications that cannot be changed: rejects or flags inserted rows that are persons who are there already.
-- Runs after the trigger that signs. The keys of all rows of the statement are locked in ascending order, so that of two
-- transactions that bring one person the second waits for the first and then sees its row. What the other trigger has signed
-- is not signed again, unless something waits in the queue; rows that do are signed and compared one by one. What goes wrong inside lets the row pass, with a warning: only a duplicate is refused.
CREATE OR REPLACE FUNCTION {unless}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET row_security = off SET datestyle = 'ISO' {planned_once} AS {body}
-- {mark}
DECLARE
    dbsim_idle boolean;
    dbsim_signed {signatures_view}[] := '{}';
    dbsim_question {signatures_view};
    dbsim_other {signatures_view};
    dbsim_row record;
    dbsim_found record;
    dbsim_waiting {signatures_view}[] := '{}';
    dbsim_sentence text;
BEGIN
    IF to_regclass({queue_literal}) IS NULL OR NOT coalesce((
        SELECT state = 'ready' FROM {home}.dbsim_index WHERE name = {name} AND generation = {generation}), false) THEN
        RETURN NULL;
    END IF;
    IF {rejects} AND current_setting('transaction_isolation') = 'repeatable read' THEN
        RAISE 'dbsim: at isolation level REPEATABLE READ a twin inserted meanwhile stays unseen: insert into % at READ COMMITTED or SERIALIZABLE',
            {table_name} USING ERRCODE = '{unseen_state}';
    END IF;
    IF (SELECT count(*) FROM (SELECT 1 FROM dbsim_new LIMIT {row_limit} + 1) AS counted) > {row_limit} THEN
        dbsim_sentence := 'dbsim: a statement that inserts more than {row_limit} persons is not checked: insert fewer at a time';
        IF {rejects} THEN
            RAISE '%', dbsim_sentence USING ERRCODE = '{unseen_state}';
        END IF;
        RAISE WARNING '%', dbsim_sentence;
        RETURN NULL;
    END IF;
    BEGIN
        dbsim_idle := NOT EXISTS (SELECT FROM {queue});
        FOR dbsim_row IN SELECT {new_key_of_source}, ARRAY[{source_texts}] AS dbsim_texts FROM dbsim_new AS dbsim_source LOOP
            SELECT s.* INTO dbsim_question FROM {signatures} AS s WHERE dbsim_idle AND {s_is_row};
            IF NOT FOUND THEN
                dbsim_question := {sign}({row_texts});
                {question_key_from_row}
            END IF;
            IF dbsim_question.{fingerprint} IS NOT NULL THEN
                dbsim_signed := dbsim_signed || dbsim_question;
            END IF;
        END LOOP;
        FOR dbsim_row IN
            SELECT DISTINCT one.number # {salt}::bigint AS number FROM unnest(dbsim_signed) AS s
            CROSS JOIN LATERAL unnest(ARRAY[{s_bucket_keys}]) AS one (number) ORDER BY 1
        LOOP
            PERFORM pg_advisory_xact_lock(dbsim_row.number);
        END LOOP;
        FOR dbsim_row IN
            SELECT {source_key}, ARRAY[{source_texts}] AS dbsim_texts FROM {source} AS dbsim_source
            JOIN (SELECT DISTINCT {key} FROM {queue} AS q WHERE NOT ({q_no_key}) LIMIT {most_waiting}) AS k ON {source_is_k}
        LOOP
            dbsim_other := {sign}({row_texts});
            {other_key_from_row}
            dbsim_waiting := dbsim_waiting || dbsim_other;
        END LOOP;
        FOREACH dbsim_question IN ARRAY dbsim_signed LOOP
            FOR dbsim_found IN
                WITH candidates AS (
                    SELECT a.* FROM {signatures} AS a WHERE ({key_is_asked}) AND EXISTS (
                        SELECT FROM {source} AS dbsim_source WHERE {source_is_a_row})
                    UNION ALL SELECT w.* FROM unnest(dbsim_waiting) AS w
                )
                SELECT * FROM (SELECT {key}, {score_of_question} AS dbsim_score FROM candidates
                    WHERE ({key}) IS DISTINCT FROM ({question_key})) AS scored
                WHERE dbsim_score >= {certain} ORDER BY dbsim_score DESC, {key} LIMIT {most_flagged}
            LOOP
                IF {rejects} THEN
                    RAISE 'this person is in % already, as row % (probability %): change that row instead of inserting another',
                        {table_name}, {found_key_text}, round(dbsim_found.dbsim_score::numeric, 4)
                        USING ERRCODE = '{duplicate_state}', TABLE = {table_literal}, CONSTRAINT = {unless_literal};
                END IF;
                INSERT INTO {flagged} ({pair_names}, probability)
                VALUES ({question_key}, {found_key}, dbsim_found.dbsim_score) ON CONFLICT DO NOTHING;
            END LOOP;
        END LOOP;
    EXCEPTION
        WHEN SQLSTATE '{duplicate_state}' OR SQLSTATE '40001' OR SQLSTATE '40P01' OR SQLSTATE '55P03' THEN
            RAISE;
        WHEN OTHERS THEN
            RAISE WARNING 'dbsim: the rows inserted into % were not compared with the persons there (%)', {table_name}, SQLERRM;
    END;
    RETURN NULL;
END
{body}
