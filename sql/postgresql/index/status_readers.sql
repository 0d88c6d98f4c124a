-- dbsim_status is made anew when an index goes: who was granted another one reads it on.
DO {body}
DECLARE
    role regrole;
BEGIN
    FOR role IN
        SELECT DISTINCT acl.grantee::regrole FROM pg_class c, aclexplode(c.relacl) AS acl
        WHERE c.oid IN ({pairs_views}) AND acl.privilege_type = 'SELECT' AND acl.grantee NOT IN (c.relowner, 0)
    LOOP
        EXECUTE {grant_status} || role;
    END LOOP;
END
{body}
