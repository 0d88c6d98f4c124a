-- The runs of digits and of letters in a normalised text, as dbsim.text.kinds.dates and addresses take them apart.
CREATE OR REPLACE FUNCTION {home}.dbsim_pieces(folded text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    IF folded COLLATE "C" ~ '[^\u0001-\u007f]' THEN
        RETURN ARRAY(SELECT one[1] FROM regexp_matches(folded COLLATE "C", '[0-9]+|[a-z{beyond}]+', 'g') AS one);
    END IF;
    RETURN ARRAY(SELECT one[1] FROM regexp_matches(folded COLLATE "C", '[0-9]+|[a-z]+', 'g') AS one);
END
$dbsim$
