-- The primes of an index's fingerprints, from the secret that the database has drawn, as hashing/fingerprint.py has them.
DECLARE
    digest bytea;
    number bigint;
    found bigint[] := '{}';
BEGIN
    SELECT sha256(decode(secret, 'hex') || 'rabin'::bytea) INTO digest FROM {home}.dbsim_index WHERE name = {name};
    FOR place IN 0..1 LOOP
        number := (get_byte(digest, 4 * place) * 16777216::bigint + get_byte(digest, 4 * place + 1) * 65536
            + get_byte(digest, 4 * place + 2) * 256 + get_byte(digest, 4 * place + 3)) / 16 + (2 + place) * 268435456;
        WHILE number % 2 = 0 OR EXISTS (SELECT FROM generate_series(3, 32767, 2) AS d WHERE number % d = 0) LOOP
            number := number + 1;
        END LOOP;
        found := found || number;
    END LOOP;
    INSERT INTO {home}.dbsim_constant (index_name, name, numbers, reals) VALUES ({name}, 'primes', found, '{}')
    ON CONFLICT (index_name, name) DO UPDATE SET numbers = excluded.numbers;
END
