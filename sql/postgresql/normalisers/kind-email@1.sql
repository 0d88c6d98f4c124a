-- dbsim.text.kinds: local part and domain without tags.
CREATE OR REPLACE FUNCTION {home}.dbsim_fold_kind_email_1(given text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    plain text COLLATE "C";
    domain text COLLATE "C";
BEGIN
    IF {home}.dbsim_missing(given) THEN
        RETURN '';
    END IF;
    plain := btrim({home}.dbsim_stripped(given), '<>');
    IF position('@' IN plain) = 0 THEN
        RETURN {home}.dbsim_normalise(given, 'text'::text);
    END IF;
    domain := {home}.dbsim_normalise(regexp_replace(plain, '^.*@', ''), 'text'::text);
    plain := regexp_replace(plain, '@[^@]*$', '');
    domain := CASE domain {same_domains} ELSE domain END;
    RETURN btrim({home}.dbsim_normalise(regexp_replace(plain, '\+.*$', ''), 'text'::text) || ' ' || domain, ' ');
END
$dbsim$
