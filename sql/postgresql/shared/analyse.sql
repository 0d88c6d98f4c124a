-- Everything a signature is made of, for one field: normalised text, token hashes, shingle hashes, filter.
CREATE OR REPLACE FUNCTION dbsim_analyse(
    given text, profile text, words boolean, size integer, bits integer, sample integer, secret bytea
) RETURNS dbsim_field
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, {home}, pg_temp AS $dbsim$
DECLARE
    field dbsim_field;
BEGIN
    field.folded := dbsim_fold(coalesce(given, ''), profile);
    field.tokens := dbsim_tokens(
        CASE WHEN words THEN string_to_array(field.folded, ' ') ELSE dbsim_letters(field.folded, size - 1) END, secret);
    field.features := dbsim_features(field.tokens, size);
    field.bits := dbsim_bits(field.features, bits, sample);
    RETURN field;
END
$dbsim$
