-- A code point as text; in an encoding that may lack the character as \nnn escapes of its UTF-8 bytes.
CREATE OR REPLACE FUNCTION {home}.dbsim_letter(code integer) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    IF code < 128 OR current_setting('server_encoding') = 'UTF8' THEN
        RETURN chr(code);
    ELSIF code < 2048 THEN
        RETURN encode(decode(to_hex(192 + (code >> 6)) || to_hex(128 + (code & 63)), 'hex'), 'escape');
    ELSIF code < 65536 THEN
        RETURN encode(decode(
            to_hex(224 + (code >> 12)) || to_hex(128 + (code >> 6 & 63)) || to_hex(128 + (code & 63)), 'hex'), 'escape');
    END IF;
    RETURN encode(decode(
        to_hex(240 + (code >> 18)) || to_hex(128 + (code >> 12 & 63)) || to_hex(128 + (code >> 6 & 63))
        || to_hex(128 + (code & 63)), 'hex'), 'escape');
END
$dbsim$
