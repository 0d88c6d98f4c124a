-- The ASCII part of text, german and digits: lower case, and one space for what is neither letter nor digit.
-- Collation "C": lower() then knows ASCII only, in every locale.
CREATE OR REPLACE FUNCTION {home}.dbsim_lowered(given text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    RETURN regexp_replace(lower(given COLLATE "C"), '[\u0001-/:-`{-\u007f]+', ' ', 'g');
END
$dbsim$
