-- Rows near a signature: the statement behind search and similar, as dbsim.search.searcher runs it. An estimate that is
-- sure decides; otherwise the texts do, best-looking rows first and a bounded number of them, as far as the caller may
-- read them. A row that is gone is no hit. When the question is a row of the table, what people decided about it counts:
-- different rows are left out, the same ones are there whatever their score.
CREATE FUNCTION {near}(dbsim_question {signatures_view}, dbsim_texts text[], {threshold_argument} double precision, {hits_argument} integer)
RETURNS TABLE ({key_types}, {score_name} double precision, {exact_name} boolean)
LANGUAGE plpgsql STABLE SECURITY INVOKER SET search_path = pg_catalog, pg_temp {planned_once} AS {body}
#variable_conflict use_column
DECLARE
    dbsim_least double precision := coalesce({near_name}.{threshold_argument}, {threshold});
    dbsim_below double precision := 0;
    dbsim_above double precision := 0;
    dbsim_reads boolean := dbsim_texts IS NOT NULL AND dbsim_least > 0 AND {reads_texts};
    dbsim_row record;
    dbsim_now text[];
    dbsim_theirs text[];
    {declare_shingles}
    dbsim_seen integer := 0;
    dbsim_given integer := 0;
    dbsim_total double precision;
    dbsim_weight double precision;
BEGIN
    IF dbsim_reads THEN
        SELECT max(w.below), max(w.above) INTO dbsim_below, dbsim_above FROM ({widths}) AS w;
        {assign_shingles}
    END IF;
    FOR dbsim_row IN
        WITH decided AS MATERIALIZED (
            SELECT * FROM {verdicts}({question_key})
        ), alike AS (
            (SELECT a.*, {keys} + 1 AS dbsim_agreeing FROM {signatures_view} AS a
             WHERE a.{fingerprint} = dbsim_question.{fingerprint} AND ({a_key}) IS DISTINCT FROM ({question_key})
                   AND ({a_key}) NOT IN (SELECT {decided_key} FROM decided)
             LIMIT {max_candidates})
            UNION ALL
            (SELECT a.*, {agreeing} AS dbsim_agreeing FROM {signatures_view} AS a
             WHERE ({key_is_asked}) AND a.{fingerprint} <> dbsim_question.{fingerprint}
                   AND ({a_key}) IS DISTINCT FROM ({question_key})
                   AND ({a_key}) NOT IN (SELECT {decided_key} FROM decided)
             LIMIT {most_alike})
        ), candidates AS (
            SELECT * FROM alike ORDER BY dbsim_agreeing DESC LIMIT {max_candidates}
        )
        (SELECT {key}, {fingerprint} AS dbsim_fingerprint, coalesce({score_of_question}, 0) AS dbsim_score, true AS dbsim_same
        FROM {signatures_view} AS candidates
        WHERE ({candidates_key}) IN (SELECT {decided_key} FROM decided WHERE decided.{verdict_name} = '{same}'))
        UNION ALL
        (SELECT {key}, {fingerprint} AS dbsim_fingerprint, dbsim_score, false AS dbsim_same
        FROM (SELECT {key}, {fingerprint}, {score_of_question} AS dbsim_score FROM candidates) AS scored
        WHERE dbsim_score >= dbsim_least - dbsim_below
        ORDER BY dbsim_score DESC, {key} LIMIT {near_name}.{hits_argument} + {most_texts})
    LOOP
        EXIT WHEN dbsim_seen = {near_name}.{hits_argument} + {spare} AND dbsim_given >= {near_name}.{hits_argument};
        dbsim_seen := dbsim_seen + (NOT dbsim_row.dbsim_same)::integer;
        {score_name} := dbsim_row.dbsim_score;
        {exact_name} := dbsim_row.dbsim_fingerprint = dbsim_question.{fingerprint};
        IF {exact_name} OR NOT dbsim_reads OR dbsim_row.dbsim_score >= dbsim_least + dbsim_above THEN
            SELECT ARRAY[''] INTO dbsim_now FROM {source} AS dbsim_source WHERE {source_is_row};
            CONTINUE WHEN dbsim_now IS NULL OR (dbsim_row.dbsim_score < dbsim_least AND NOT dbsim_row.dbsim_same);
        ELSE
            SELECT ARRAY[{source_texts}] INTO dbsim_now FROM {source} AS dbsim_source WHERE {source_is_row};
            CONTINUE WHEN dbsim_now IS NULL;
            dbsim_total := 0;
            dbsim_weight := 0;
            {compare_shingles}
            {score_name} := round(dbsim_total / nullif(dbsim_weight, 0) * 1e12::float8) / 1e12::float8;
            {exact_name} := true;
            {score_name} := coalesce({near_name}.{score_name}, 0);
            CONTINUE WHEN {near_name}.{score_name} < dbsim_least AND NOT dbsim_row.dbsim_same;
        END IF;
        dbsim_given := dbsim_given + (NOT dbsim_row.dbsim_same)::integer;
        {key_from_row}
        RETURN NEXT;
    END LOOP;
END
{body}
