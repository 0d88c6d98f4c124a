-- dbsim.text.normalisers.mapped, profile german.
CREATE OR REPLACE FUNCTION dbsim_fold_german_1(given text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, {home}, pg_temp AS $dbsim$
BEGIN
    RETURN dbsim_mapped(dbsim_lowered(given), 'german');
END
$dbsim$
