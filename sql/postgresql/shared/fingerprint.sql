-- dbsim.hashing.fingerprint: the token hashes as digits of one number to the base 2^64, after a leading 1, modulo two
-- primes of 30 bits; 2^64 - 1 ends a field.
CREATE OR REPLACE FUNCTION {home}.dbsim_fingerprint(fields {home}.dbsim_field[], primes bigint[]) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    p bigint := primes[1];
    q bigint := primes[2];
    base_p bigint := 4294967296 % p * (4294967296 % p) % p;
    base_q bigint := 4294967296 % q * (4294967296 % q) % q;
    by_p bigint := 1;
    by_q bigint := 1;
    field {home}.dbsim_field;
    token bigint;
    ended boolean := false;
BEGIN
    FOREACH field IN ARRAY fields LOOP
        IF ended THEN
            by_p := (by_p * base_p + base_p + p - 1) % p;
            by_q := (by_q * base_q + base_q + q - 1) % q;
        END IF;
        ended := true;
        FOREACH token IN ARRAY field.tokens LOOP
            by_p := (by_p * base_p + token % p) % p;
            by_q := (by_q * base_q + token % q) % q;
        END LOOP;
    END LOOP;
    RETURN by_p << 30 | by_q;
END
$dbsim$
