-- dbsim.hashing.bitsampling: bits of the filter, drawn at random; `size` of them are a key, or its hash beyond 62.
CREATE OR REPLACE FUNCTION {home}.dbsim_bitsampling_1_keys(fields {home}.dbsim_field[], size integer, keys integer, asked_index text)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    places bigint[];
    positions integer := size * keys;
    sampled bigint[] := '{}';
    words bigint[];
    word bigint;
    found bigint[] := '{}';
BEGIN
    SELECT numbers INTO STRICT places FROM {home}.dbsim_constant WHERE index_name = asked_index AND name = 'sample';
    FOR number IN 1 .. cardinality(fields) LOOP
        FOR place IN (number - 1) * positions + 1 .. number * positions LOOP
            sampled[place] := get_bit(fields[number].bits, places[place]::integer);
        END LOOP;
    END LOOP;
    sampled := {home}.dbsim_mixture(sampled, positions, asked_index);
    FOR key IN 0 .. keys - 1 LOOP
        words := '{}';
        word := 0;
        FOR place IN 1 .. size LOOP
            word := word * 2 + sampled[key * size + place];
            IF place % 62 = 0 OR place = size THEN
                words := words || word;
                word := 0;
            END IF;
        END LOOP;
        found[key + 1] := CASE cardinality(words) WHEN 1 THEN words[1] ELSE {home}.dbsim_combine(words) END;
    END LOOP;
    RETURN found;
END
$dbsim$
