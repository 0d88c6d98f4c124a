-- The characters of a normalised text for n-grams: gaps as one _, `padding` of them at both ends.
CREATE OR REPLACE FUNCTION {home}.dbsim_letters(folded text, padding integer) RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    joined text COLLATE "C" := replace(btrim(regexp_replace(folded COLLATE "C", ' +', ' ', 'g'), ' '), ' ', '_');
BEGIN
    IF joined = '' THEN
        RETURN '{}';
    END IF;
    joined := repeat('_', padding) || joined || repeat('_', padding);
    IF current_setting('server_encoding') = 'UTF8' THEN
        RETURN string_to_array(joined, NULL);
    END IF;
    RETURN ARRAY(SELECT one[1] FROM regexp_matches(joined, '\\3[0-7]{2}(?:\\2[0-7]{2})+|.', 'g') AS one);
END
$dbsim$
