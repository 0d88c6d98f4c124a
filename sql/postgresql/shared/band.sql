-- dbsim.hashing.keys.band: each run of `size` positions combined into one bucket key.
CREATE OR REPLACE FUNCTION {home}.dbsim_band(signature bigint[], size integer) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    found bigint[] := '{}';
BEGIN
    IF size = 1 THEN
        RETURN signature;
    END IF;
    FOR key IN 1 .. cardinality(signature) / size LOOP
        found[key] := {home}.dbsim_combine(signature[(key - 1) * size + 1 : key * size]);
    END LOOP;
    RETURN found;
END
$dbsim$
