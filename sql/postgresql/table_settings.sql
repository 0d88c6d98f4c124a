-- Tables of dbsim's own, right after they are made: what ALTER DEFAULT PRIVILEGES has granted to others is taken back,
-- and one without a primary key can still be changed under a publication of all tables.
DECLARE
    found record;
    granted record;
BEGIN
    FOR found IN
        SELECT c.oid, c.oid::regclass AS name, c.relowner, c.relnamespace, c.relacl, c.relkind = 'r' AND c.relreplident = 'd'
            AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary) AS nameless
        FROM unnest(ARRAY[{names}]) AS wanted JOIN pg_class c ON c.oid = to_regclass(wanted)
    LOOP
        FOR granted IN
            SELECT DISTINCT a.grantee FROM aclexplode(found.relacl) a WHERE a.grantee <> found.relowner AND EXISTS (
                SELECT FROM pg_default_acl d, aclexplode(d.defaclacl) x
                WHERE d.defaclrole = found.relowner AND d.defaclnamespace IN (0, found.relnamespace)
                  AND d.defaclobjtype = 'r' AND x.grantee = a.grantee)
        LOOP
            EXECUTE format('REVOKE ALL ON %s FROM %s', found.name,
                           CASE granted.grantee WHEN 0 THEN 'PUBLIC' ELSE granted.grantee::regrole::text END);
        END LOOP;
        IF found.nameless THEN
            EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', found.name);
        END IF;
    END LOOP;
END
