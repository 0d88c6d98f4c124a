-- str.strip of Python: without white space at both ends.
CREATE OR REPLACE FUNCTION {home}.dbsim_stripped(given text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    RETURN regexp_replace(given COLLATE "C", '^[{spaces}]+|[{spaces}]+$', '', 'g');
END
$dbsim$
