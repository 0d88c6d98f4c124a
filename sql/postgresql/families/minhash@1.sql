-- dbsim.hashing.minhash: one-permutation MinHash with optimal densification, in bands.
CREATE OR REPLACE FUNCTION dbsim_minhash_1(features bigint[], positions integer) RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, {home}, pg_temp AS $dbsim$
DECLARE
    minima bigint[] := array_fill(NULL::bigint, ARRAY[positions]);
    dense bigint[];
    feature bigint;
    place integer;
    found dbsim_donor;
BEGIN
    FOREACH feature IN ARRAY features LOOP
        place := ((feature >> 31) * positions >> 31) + 1;
        IF minima[place] IS NULL OR feature < minima[place] THEN
            minima[place] := feature;
        END IF;
    END LOOP;
    IF cardinality(features) = 0 OR array_position(minima, NULL) IS NULL THEN
        RETURN minima;
    END IF;
    dense := minima;
    FOR found IN
        SELECT d.* FROM dbsim_donor AS d WHERE d.positions = dbsim_minhash_1.positions AND minima[d.part] IS NULL
    LOOP
        FOREACH place IN ARRAY found.donors LOOP
            IF minima[place] IS NOT NULL THEN
                dense[found.part] := minima[place];
                EXIT;
            END IF;
        END LOOP;
    END LOOP;
    RETURN dense;
END
$dbsim$;
CREATE OR REPLACE FUNCTION dbsim_minhash_1_keys(fields dbsim_field[], size integer, keys integer, asked_index text)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, {home}, pg_temp AS $dbsim$
DECLARE
    field dbsim_field;
    signatures bigint[] := '{}';
BEGIN
    FOREACH field IN ARRAY fields LOOP
        signatures := signatures || dbsim_minhash_1(field.features, size * keys);
    END LOOP;
    RETURN dbsim_band(dbsim_mixture(signatures, size * keys, asked_index), size);
END
$dbsim$
