-- dbsim.text.kinds: words with the usual abbreviations written out.
CREATE OR REPLACE FUNCTION {home}.dbsim_fold_kind_address_1(given text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    marked text COLLATE "C" := given;
    piece text COLLATE "C";
    found text[] := '{}';
    words jsonb := {address_words};
    endings text[] := {address_endings};
    full_endings text[] := {address_full_endings};
BEGIN
    IF {home}.dbsim_missing(given) THEN
        RETURN '';
    END IF;
    IF marked ~ '[cC]/' THEN
        marked := regexp_replace(marked, '(?<![{alphanumeric}_])[cC]/', 'calle ', 'g');
    END IF;
    FOREACH piece IN ARRAY {home}.dbsim_pieces({home}.dbsim_normalise(marked, 'text'::text)) LOOP
        IF words ? piece THEN
            piece := words ->> piece;
        ELSE
            FOR place IN 1 .. cardinality(endings) LOOP
                IF length(piece) > length(endings[place]) + 2 AND right(piece, length(endings[place])) = endings[place] THEN
                    piece := left(piece, -length(endings[place])) || full_endings[place];
                    EXIT;
                END IF;
            END LOOP;
        END IF;
        found := found || piece;
    END LOOP;
    RETURN array_to_string(found, ' ');
END
$dbsim$
