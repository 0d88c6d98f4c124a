-- dbsim.hashing.minhash: one-permutation MinHash with optimal densification, in bands.
CREATE OR REPLACE FUNCTION {home}.dbsim_minhash_1(features bigint[], positions integer) RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    minima bigint[] := array_fill(NULL::bigint, ARRAY[positions]);
    dense bigint[] := minima;
    feature bigint;
    place integer;
    donor {home}.dbsim_donor;
BEGIN
    IF cardinality(features) = 0 THEN
        RETURN minima;
    END IF;
    FOR chance IN 0 .. 3 LOOP  -- the range is cut by the high lane; what stays empty gets features by other bits
        FOREACH feature IN ARRAY features LOOP
            place := CASE chance
                WHEN 0 THEN feature >> 31
                WHEN 1 THEN feature & 2147483647
                WHEN 2 THEN (feature >> 31) # (feature & 2147483647)
                ELSE (feature & 2147483647) * {mix_1} & 2147483647 END * positions >> 31;
            IF minima[place + 1] IS NULL AND (dense[place + 1] IS NULL OR feature < dense[place + 1]) THEN
                dense[place + 1] := feature;
            END IF;
        END LOOP;
        minima := dense;
        IF array_position(minima, NULL) IS NULL THEN
            RETURN minima;
        END IF;
    END LOOP;
    FOR donor IN
        SELECT d.* FROM {home}.dbsim_donor AS d WHERE d.positions = dbsim_minhash_1.positions AND minima[d.part] IS NULL
    LOOP
        FOREACH place IN ARRAY donor.donors LOOP
            IF minima[place] IS NOT NULL THEN
                dense[donor.part] := minima[place];
                EXIT;
            END IF;
        END LOOP;
    END LOOP;
    RETURN dense;
END
$dbsim$;
CREATE OR REPLACE FUNCTION {home}.dbsim_minhash_1_keys(fields {home}.dbsim_field[], size integer, keys integer, asked_index text)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    field {home}.dbsim_field;
    signatures bigint[] := '{}';
BEGIN
    FOREACH field IN ARRAY fields LOOP
        signatures := signatures || {home}.dbsim_minhash_1(field.features, size * keys);
    END LOOP;
    RETURN {home}.dbsim_band({home}.dbsim_mixture(signatures, size * keys, asked_index), size);
END
$dbsim$
