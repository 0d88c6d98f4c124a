-- dbsim.hashing.minhash, several fields: each position takes the first field of its own order that the text has.
-- `signatures` holds one signature a field, one after the other, NULLs for a field without features.
CREATE OR REPLACE FUNCTION {home}.dbsim_mixture(signatures bigint[], positions integer, asked_index text) RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    choices bigint[];
    found bigint[];
BEGIN
    IF cardinality(signatures) = positions THEN
        RETURN signatures;
    END IF;
    SELECT numbers INTO STRICT choices FROM {home}.dbsim_constant WHERE index_name = asked_index AND name = 'choices';
    FOR place IN 1 .. positions LOOP
        FOR choice IN 0 .. cardinality(choices) / positions - 1 LOOP
            found[place] := signatures[choices[choice * positions + place] * positions + place];
            EXIT WHEN found[place] IS NOT NULL;
        END LOOP;
    END LOOP;
    RETURN found;
END
$dbsim$
