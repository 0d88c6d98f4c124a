-- dbsim.text.kinds: digits by their place from the left.
CREATE OR REPLACE FUNCTION {home}.dbsim_fold_kind_digits_1(given text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    IF {home}.dbsim_missing(given) THEN
        RETURN '';
    END IF;
    RETURN {home}.dbsim_places({home}.dbsim_fold_digits_1(given), false);
END
$dbsim$
