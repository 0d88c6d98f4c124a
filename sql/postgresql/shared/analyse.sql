-- Everything a signature is made of, for one field: normalised text, token hashes, shingle hashes, filter.
CREATE OR REPLACE FUNCTION {home}.dbsim_analyse(
    given text, profile text, words boolean, size integer, bits integer, sample integer, secret bytea
) RETURNS {home}.dbsim_field
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    field {home}.dbsim_field;
BEGIN
    field.folded := {home}.dbsim_fold(coalesce(given, ''), profile);
    field.tokens := {home}.dbsim_tokens(
        CASE WHEN words THEN string_to_array(field.folded, ' ') ELSE {home}.dbsim_letters(field.folded, size - 1) END, secret);
    field.features := {home}.dbsim_features(field.tokens, size);
    field.bits := {home}.dbsim_bits(field.features, bits, sample);
    RETURN field;
END
$dbsim$
