-- What one non-ASCII character becomes under a profile; a profile of its own overrides the table "text".
CREATE OR REPLACE FUNCTION dbsim_replacement(letter text, asked text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, {home}, pg_temp AS $dbsim$
DECLARE
    code integer := dbsim_code_point(letter);
    layer text;
    found dbsim_unicode;
BEGIN
    FOREACH layer IN ARRAY CASE asked WHEN 'german' THEN ARRAY[asked, 'text'] ELSE ARRAY['text'] END LOOP
        SELECT * INTO found FROM dbsim_unicode u
        WHERE u.profile = layer AND u.first <= code ORDER BY u.first DESC LIMIT 1;
        IF code <= found.last THEN
            RETURN found.prefix || CASE WHEN found.shift IS NULL THEN '' ELSE dbsim_letter(code + found.shift) END
                || found.suffix;
        END IF;
    END LOOP;
    RETURN ' ';
END
$dbsim$
