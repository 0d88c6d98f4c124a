-- The code point of a character, whatever the database's encoding.
CREATE OR REPLACE FUNCTION dbsim_code_point(letter text) RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    bytes bytea := convert_to(letter, 'UTF8');
BEGIN
    RETURN CASE octet_length(bytes)
        WHEN 1 THEN get_byte(bytes, 0)
        WHEN 2 THEN (get_byte(bytes, 0) & 31) << 6 | (get_byte(bytes, 1) & 63)
        WHEN 3 THEN (get_byte(bytes, 0) & 15) << 12 | (get_byte(bytes, 1) & 63) << 6 | (get_byte(bytes, 2) & 63)
        ELSE (get_byte(bytes, 0) & 7) << 18 | (get_byte(bytes, 1) & 63) << 12 | (get_byte(bytes, 2) & 63) << 6
            | (get_byte(bytes, 3) & 63) END;
END
$dbsim$
