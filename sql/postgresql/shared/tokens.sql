-- dbsim.text.tokens: SHA-256(secret || token), its first 62 bits, of every token in text order.
-- decode(.., 'escape') gives a token's UTF-8 bytes in every encoding: folded text has no backslash of its own.
CREATE OR REPLACE FUNCTION {home}.dbsim_tokens(tokens text[], secret bytea) RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    RETURN ARRAY(
        SELECT ('x' || encode(substr(sha256(secret || decode(token, 'escape')), 1, 8), 'hex'))::bit(62)::bigint
        FROM unnest(tokens) AS token WHERE token <> '' COLLATE "C"
    );
END
$dbsim$
