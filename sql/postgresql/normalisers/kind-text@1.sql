-- dbsim.text.kinds: a text as other indexes compare it.
CREATE OR REPLACE FUNCTION {home}.dbsim_fold_kind_text_1(given text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    RETURN CASE WHEN {home}.dbsim_missing(given) THEN '' ELSE {home}.dbsim_normalise(given, 'text'::text) END;
END
$dbsim$
