-- dbsim.text.normalise.fold: the mapped text, its tokens separated by one or more spaces.
-- Collation "C" everywhere: lower() then knows ASCII only, and comparing is comparing bytes, in every locale.
CREATE OR REPLACE FUNCTION dbsim_fold(given text, profile text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, {home}, pg_temp AS $dbsim$
DECLARE
    folded text COLLATE "C" := regexp_replace(lower(given COLLATE "C"), '[\u0001-/:-`{-\u007f]+', ' ', 'g');
    letters text[];
    targets text[];
BEGIN
    IF octet_length(convert_to(folded, 'UTF8')) > length(folded) THEN
        SELECT array_agg(kind.letter), array_agg(dbsim_replacement(kind.letter, profile)) INTO letters, targets
        FROM (SELECT DISTINCT letter COLLATE "C" AS letter
              FROM string_to_table(regexp_replace(folded, '[\u0001-\u007f]+', '', 'g'), NULL) AS letter) AS kind;
        IF cardinality(letters) <= 32 THEN  -- each is a pass over the text
            FOR place IN 1 .. cardinality(letters) LOOP
                folded := replace(folded, letters[place], targets[place]);
            END LOOP;
        ELSE
            SELECT string_agg(coalesce(kind.target, part.letter), '' ORDER BY part.place) INTO folded
            FROM string_to_table(folded, NULL) WITH ORDINALITY AS part (letter, place)
            LEFT JOIN unnest(letters, targets) AS kind (letter, target)
                ON kind.letter COLLATE "C" = part.letter COLLATE "C";
        END IF;
    END IF;
    IF profile = 'digits' THEN
        RETURN regexp_replace(folded, '\\[0-7]{3}|[^0-9]', '', 'g');
    END IF;
    RETURN folded;
END
$dbsim$
