-- dbsim.text.normalisers.mapped, profile german.
CREATE OR REPLACE FUNCTION {home}.dbsim_fold_german_1(given text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    RETURN {home}.dbsim_mapped({home}.dbsim_lowered(given), 'german'::text);
END
$dbsim$
