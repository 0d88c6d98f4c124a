-- Do what needs a lock on the application's table: wait for it only briefly, because the application's writes queue
-- up behind the request; when it is not granted let them pass and ask again.
DECLARE
    home text := (
        SELECT quote_ident(n.nspname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.oid = to_regclass('dbsim_index'));
    home_in_literal text := replace(home, '''', '''''');
    before text := current_setting('lock_timeout');
    deadline timestamptz := clock_timestamp() + interval '{patience}';
    relation text;
BEGIN
    LOOP
        BEGIN
            PERFORM set_config('lock_timeout', '{wait}', true);
            {work}
            PERFORM set_config('lock_timeout', before, true);
            EXIT;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF clock_timestamp() > deadline THEN
                RAISE;
            END IF;
            PERFORM pg_sleep(0.05 + 0.2 * random());
        END;
    END LOOP;
END
