-- The code point of a character, whatever the database's encoding.
CREATE OR REPLACE FUNCTION {home}.dbsim_code_point(letter text) RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    bytes bytea := convert_to(letter, 'UTF8');
    length integer := octet_length(bytes);
    code integer := get_byte(bytes, 0);
BEGIN
    IF length > 1 THEN
        code := code & (127 >> length);  -- the bits of the first byte that do not tell the length
        FOR place IN 1 .. length - 1 LOOP
            code := code * 64 + (get_byte(bytes, place) & 63);
        END LOOP;
    END IF;
    RETURN code;
END
$dbsim$
