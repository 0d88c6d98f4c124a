-- The slices of the word signatures that every row with these words has set, one list a field that can have them: one
-- text a field, as its normaliser spells them. With dbsim_wider doublings of the bits those of the wide blocks, whose
-- slices are numbered behind the others. Runs with its owner's rights, as {marked}.
CREATE FUNCTION {sliced}(dbsim_spelled text[], dbsim_wider integer) RETURNS SETOF integer[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS {body}
DECLARE
    dbsim_secret bytea := (SELECT decode(i.secret, 'hex') FROM {home}.dbsim_index AS i WHERE i.name = {name});
BEGIN
    RETURN QUERY
        SELECT array_agg((
            CASE WHEN dbsim_wider > 0 THEN {slice_count} ELSE 0 END + (f.first << dbsim_wider) + 64 * (m.place - 1) + b.bit
        )::integer)
        FROM (VALUES {word_fields}) AS f (number, bits, per_word, columns, first)
        CROSS JOIN LATERAL unnest({home}.dbsim_marks(
            {home}.dbsim_tokens(string_to_array(dbsim_spelled[f.number], ' '), dbsim_secret), f.bits << dbsim_wider, f.per_word
        )) WITH ORDINALITY AS m (mark, place)
        CROSS JOIN generate_series(0, 63) AS b (bit)
        WHERE (m.mark >> (63 - b.bit)) & 1 = 1
        GROUP BY f.number;
END
{body}
