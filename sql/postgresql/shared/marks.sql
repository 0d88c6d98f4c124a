-- dbsim.hashing.word_signatures: the bits that the signature of a text with these words has set, as signed 64-bit
-- numbers; double hashing from the two halves of a token's hash.
CREATE OR REPLACE FUNCTION {home}.dbsim_marks(tokens bigint[], bits integer, per_word integer) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    marks bigint[] := array_fill(0::bigint, ARRAY[bits / 64]);
    token bigint;
    place bigint;
BEGIN
    FOREACH token IN ARRAY tokens LOOP
        FOR step IN 0 .. per_word - 1 LOOP
            place := ((((token & 2147483647) + step * ((token >> 31) | 1)) & 2147483647) * bits) >> 31;
            marks[place / 64 + 1] := marks[place / 64 + 1] | (1::bigint << (63 - (place % 64)::integer));
        END LOOP;
    END LOOP;
    RETURN marks;
END
$dbsim$
