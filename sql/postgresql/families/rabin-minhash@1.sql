-- dbsim.hashing.rabin_minhash: the smallest remainder of all features for each of many primes, in bands.
CREATE OR REPLACE FUNCTION {home}.dbsim_rabin_minhash_1_keys(fields {home}.dbsim_field[], size integer, keys integer, asked_index text)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    primes bigint[];
    field {home}.dbsim_field;
    sketches bigint[] := '{}';
BEGIN
    SELECT numbers INTO STRICT primes FROM {home}.dbsim_constant WHERE index_name = asked_index AND name = 'sketch';
    FOREACH field IN ARRAY fields LOOP
        sketches := sketches || ARRAY(
            SELECT (SELECT min(feature % prime) FROM unnest(field.features) AS feature)
            FROM unnest(primes) WITH ORDINALITY AS p (prime, place) ORDER BY place);
    END LOOP;
    RETURN {home}.dbsim_band({home}.dbsim_mixture(sketches, size * keys, asked_index), size);
END
$dbsim$
