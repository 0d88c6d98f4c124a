-- The view of pairs outlives a change of the index and remembers who had been granted it.
DO {body}
DECLARE
    role regrole;
BEGIN
    FOR role IN
        SELECT DISTINCT acl.grantee::regrole FROM pg_class c, aclexplode(c.relacl) AS acl
        WHERE c.oid = to_regclass({pairs_literal}) AND acl.privilege_type = 'SELECT'
          AND acl.grantee NOT IN (c.relowner, 0)
    LOOP
        PERFORM {grant}(role);
    END LOOP;
END
{body}
