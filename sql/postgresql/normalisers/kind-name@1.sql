-- dbsim.text.kinds: letters without accents, gaps and titles; ue is an umlaut except after a, e and q.
CREATE OR REPLACE FUNCTION {home}.dbsim_fold_kind_name_1(given text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    words text[];
    joined text COLLATE "C";
BEGIN
    IF {home}.dbsim_missing(given) THEN
        RETURN '';
    END IF;
    words := string_to_array({home}.dbsim_normalise(given, 'german'::text), ' ');
    WHILE cardinality(words) > 1 AND words[1] = ANY ({titles}) LOOP
        words := words[2:];
    END LOOP;
    joined := replace(replace(array_to_string(words, ''), 'ae', 'a'), 'oe', 'o');
    RETURN regexp_replace(joined, '(?<![aeq])ue', 'u', 'g');
END
$dbsim$
