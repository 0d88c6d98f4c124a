-- dbsim.hashing.fuzzy with other usual settings, which the index's constants hold.
CREATE OR REPLACE FUNCTION {home}.dbsim_fuzzy_2_keys(fields {home}.dbsim_field[], size integer, keys integer, asked_index text)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    RETURN {home}.dbsim_fuzzy_1_keys(fields, size, keys, asked_index);
END
$dbsim$
