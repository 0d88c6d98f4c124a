-- dbsim.text.kinds.placeholders: whether a text stands for a missing value. What counts as a letter or a digit is what
-- Python says; most texts are ASCII and never meet the long list.
CREATE OR REPLACE FUNCTION {home}.dbsim_missing(given text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    stripped text COLLATE "C" := {home}.dbsim_stripped(given);
BEGIN
    IF regexp_replace(lower(stripped), '\u212a', 'k', 'g') = ANY ({placeholders}) THEN
        RETURN true;
    END IF;
    stripped := regexp_replace(stripped, '[\u0001-/:-@[-`{-\u007f]+', '', 'g');
    IF stripped ~ '[^\u0001-\u007f]' THEN
        stripped := regexp_replace(stripped, '[^{alphanumeric}]+', '', 'g');
    END IF;
    RETURN stripped ~ '^(0*|[xX]{3,})$';
END
$dbsim$
