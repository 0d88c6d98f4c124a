-- Functions of dbsim's by name. A name alone is ambiguous once somebody else has made another function of that name.
DECLARE
    found regprocedure;
BEGIN
    FOR found IN
        SELECT p.oid FROM pg_catalog.pg_proc p
        WHERE p.proname IN ({names}) AND pg_catalog.pg_has_role(p.proowner, 'USAGE')
          AND p.pronamespace = coalesce({home}, (
              SELECT c.relnamespace FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass('dbsim_index')))
    LOOP
        EXECUTE pg_catalog.format({statement}, found);
    END LOOP;
END
