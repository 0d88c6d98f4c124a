-- Append the primary keys of the changed rows to the queue.
-- Runs with its owner's rights, because the writing role may have none on dbsim's tables. It must not raise: a missing
-- queue means a dropped index; a key column that is missing or of another type asks for a comparison of everything
-- (a row without a key). Names are looked up in pg_catalog only, what else it uses is written with its schema.
CREATE OR REPLACE FUNCTION {function}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS {body}
-- {mark}
BEGIN
    {row_unchanged}
    {queue_changes}
    RETURN NULL;
END
{body}
