-- dbsim.text.normalisers.digits; in encodings that lack a character its bytes are escapes, whose digits do not count.
CREATE OR REPLACE FUNCTION {home}.dbsim_fold_digits_1(given text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    RETURN regexp_replace({home}.dbsim_mapped({home}.dbsim_lowered(given), 'text'::text) COLLATE "C", '\\[0-7]{3}|[^0-9]', '', 'g');
END
$dbsim$
