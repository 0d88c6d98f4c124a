-- dbsim.hashing.fingerprint: the token hashes as digits of one number, modulo a prime; 2^64 - 1 ends a field.
CREATE OR REPLACE FUNCTION dbsim_fingerprint(fields dbsim_field[], prime bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, {home}, pg_temp AS $dbsim$
DECLARE
    field dbsim_field;
    token bigint;
    number numeric := 1;
    digits integer := 0;
    ended boolean := false;
BEGIN
    FOREACH field IN ARRAY fields LOOP
        IF ended THEN
            number := number * 18446744073709551616 + 18446744073709551615;
        END IF;
        ended := true;
        FOREACH token IN ARRAY field.tokens LOOP
            number := number * 18446744073709551616 + token;
            digits := digits + 1;
            IF digits % 8 = 0 THEN  -- one division for eight digits
                number := mod(number, prime::numeric);
            END IF;
        END LOOP;
    END LOOP;
    RETURN mod(number, prime::numeric);
END
$dbsim$
