-- dbsim.text.normalisers.mapped, profile text.
CREATE OR REPLACE FUNCTION {home}.dbsim_fold_text_1(given text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    RETURN {home}.dbsim_mapped({home}.dbsim_lowered(given), 'text'::text);
END
$dbsim$
