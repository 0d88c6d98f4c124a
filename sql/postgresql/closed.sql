DECLARE
    role oid;
BEGIN
    FOR role IN
        SELECT DISTINCT a.grantee FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid = to_regclass({name}) AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s', {name}, CASE role WHEN 0 THEN 'PUBLIC' ELSE role::regrole::text END);
    END LOOP;
END
