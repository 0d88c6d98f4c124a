-- Take back what the function of grants has given a role: of this index, and what all indexes share where it has no other.
DO {body}
DECLARE
    role regrole := {role}::regrole;
    found regprocedure;
BEGIN
    EXECUTE {revoke_views} || role;
    IF NOT {elsewhere} THEN
        EXECUTE {revoke_shared} || role;
        EXECUTE {revoke_catalogue} || role;
    END IF;
    FOR found IN
        SELECT p.oid FROM pg_proc p, aclexplode(p.proacl) AS acl
        WHERE p.pronamespace = {home_literal}::regnamespace AND acl.grantee = role
          AND p.proname IN ({granted_functions}) AND (NOT {elsewhere} OR p.proname IN ({own_functions}))
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM %s', found, role);
    END LOOP;
END
{body}
