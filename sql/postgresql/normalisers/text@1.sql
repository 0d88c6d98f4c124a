-- dbsim.text.normalisers.mapped, profile text.
CREATE OR REPLACE FUNCTION dbsim_fold_text_1(given text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, {home}, pg_temp AS $dbsim$
BEGIN
    RETURN dbsim_mapped(dbsim_lowered(given), 'text');
END
$dbsim$
