-- A migration names the key's types by hand where it has no connection: wrong ones fail the deploy, not the first sync.
DO {body}
DECLARE
    wrong text;
BEGIN
    SELECT pg_catalog.string_agg(
        pg_catalog.format('%s %s', t.attname, pg_catalog.format_type(t.atttypid, t.atttypmod)), ', ') INTO wrong
    FROM pg_catalog.pg_attribute q
    JOIN pg_catalog.pg_attribute t ON t.attrelid = pg_catalog.to_regclass({source_literal}) AND t.attname = q.attname
    WHERE q.attrelid = pg_catalog.to_regclass({queue_literal}) AND q.attname IN ({names})
      AND (q.atttypid, q.atttypmod) IS DISTINCT FROM (t.atttypid, t.atttypmod);
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION USING MESSAGE = {sentence} || wrong || ': correct primary_key in the migration';
    END IF;
END
{body}
