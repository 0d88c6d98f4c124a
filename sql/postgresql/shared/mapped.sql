-- dbsim.text.normalisers.mapped: every non-ASCII character replaced by the table; the profile overrides "text".
-- Collation "C" everywhere: comparing is comparing bytes, in every locale.
CREATE OR REPLACE FUNCTION {home}.dbsim_mapped(given text, asked text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    folded text COLLATE "C" := given;
    utf8 boolean := current_setting('server_encoding') = 'UTF8';
    letters text[] COLLATE "C";
    targets text[] COLLATE "C";
    map jsonb;
BEGIN
    IF octet_length(convert_to(folded, 'UTF8')) = length(folded) THEN
        RETURN folded;
    END IF;
    SELECT array_agg(kind.letter), array_agg(coalesce((
        SELECT CASE WHEN kind.code <= u.last THEN u.prefix || CASE
            WHEN u.shift IS NULL THEN '' WHEN utf8 THEN chr(kind.code + u.shift)
            ELSE {home}.dbsim_letter(kind.code + u.shift) END || u.suffix END
        FROM {home}.dbsim_unicode u WHERE u.profile = asked AND asked <> 'text' AND u.first <= kind.code
        ORDER BY u.first DESC LIMIT 1
    ), (
        SELECT CASE WHEN kind.code <= u.last THEN u.prefix || CASE
            WHEN u.shift IS NULL THEN '' WHEN utf8 THEN chr(kind.code + u.shift)
            ELSE {home}.dbsim_letter(kind.code + u.shift) END || u.suffix END
        FROM {home}.dbsim_unicode u WHERE u.profile = 'text' AND u.first <= kind.code
        ORDER BY u.first DESC LIMIT 1
    ), ' ')) INTO letters, targets
    FROM (SELECT DISTINCT letter COLLATE "C" AS letter,
                 CASE WHEN utf8 THEN ascii(letter) ELSE {home}.dbsim_code_point(letter) END AS code
          FROM string_to_table(regexp_replace(folded, '[\u0001-\u007f]+', '', 'g'), NULL) AS letter) AS kind;
    IF cardinality(letters) <= 32 THEN  -- each is a pass over the text
        FOR place IN 1 .. cardinality(letters) LOOP
            folded := replace(folded, letters[place], targets[place]);
        END LOOP;
    ELSE
        map := jsonb_object(letters, targets);  -- not a join: a generic plan would loop over all kinds
        SELECT string_agg(coalesce(map ->> part.letter, part.letter), '' ORDER BY part.place) INTO folded
        FROM string_to_table(folded, NULL) WITH ORDINALITY AS part (letter, place);
    END IF;
    RETURN folded;
END
$dbsim$
