-- Do what needs a lock on the application's tables: own objects first, then all those locks within one short time,
-- because the application's statements queue up behind the request; when they are not granted give everything back,
-- let the application pass and ask again. Nothing is waited for while a lock on the application's table is held.
DECLARE
    home text := (
        SELECT quote_ident(n.nspname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.oid = to_regclass('dbsim_index'));
    home_in_literal text := replace(home, '''', '''''');
    before text := current_setting('lock_timeout');
    deadline timestamptz := clock_timestamp() + interval '{patience}';
    started timestamptz;
    source regclass;
    relation text;
    together boolean;
    virtual boolean := false;
    is_source boolean;
BEGIN
    LOOP
        BEGIN
            started := clock_timestamp();
            PERFORM set_config('lock_timeout', '{wait}', true);
            {own}
            FOR relation IN {relations} LOOP
                PERFORM set_config('lock_timeout', greatest(
                    1, {wait} - extract(milliseconds FROM clock_timestamp() - started))::integer::text, true);
                EXECUTE 'LOCK TABLE ONLY ' || relation || ' IN {mode} MODE';
            END LOOP;
            PERFORM set_config('lock_timeout', '1', true);
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
