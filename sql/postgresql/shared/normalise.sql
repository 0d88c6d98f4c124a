-- dbsim.text.normalise.normalise: the words of a text, one space between them.
CREATE OR REPLACE FUNCTION {home}.dbsim_normalise(given text, profile text DEFAULT 'text') RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    RETURN btrim(regexp_replace({home}.dbsim_fold(given COLLATE "C", profile), ' +', ' ', 'g'), ' ');
END
$dbsim$
