-- The shingles of a text as text, each once, in text order: what dbsim_features hashes, for people to read.
CREATE OR REPLACE FUNCTION {home}.dbsim_shingles(given text, profile text, words boolean, size integer) RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    folded text := {home}.dbsim_fold(coalesce(given, '') COLLATE "C", profile);
    tokens text[] := CASE WHEN words THEN array_remove(string_to_array(folded, ' '), '')
                          ELSE {home}.dbsim_letters(folded, size - 1) END;
    gap text := CASE WHEN words THEN ' ' ELSE '' END;
BEGIN
    IF cardinality(tokens) = 0 THEN
        RETURN '{}';
    END IF;
    RETURN ARRAY(
        SELECT shingle FROM (
            SELECT array_to_string(tokens[place : place + size - 1], gap) COLLATE "C" AS shingle, min(place) AS place
            FROM generate_series(1, greatest(cardinality(tokens) - size + 1, 1)) AS place GROUP BY 1
        ) AS found ORDER BY found.place);
END
$dbsim$
