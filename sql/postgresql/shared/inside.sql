-- A run of whole words in a normalised text that has a space at both ends; no words are nowhere.
CREATE OR REPLACE FUNCTION {home}.dbsim_inside(words text, folded text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    RETURN words COLLATE "C" <> '' AND strpos(folded COLLATE "C", ' ' || words || ' ') > 0;
END
$dbsim$
