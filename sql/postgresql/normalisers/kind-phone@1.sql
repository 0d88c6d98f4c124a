-- dbsim.text.kinds: country code and number, digits by their place from the right; `country` is that of national numbers.
CREATE OR REPLACE FUNCTION {home}.dbsim_fold_kind_phone_1(given text, country text DEFAULT '') RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    plain text COLLATE "C" := given;
    found text COLLATE "C";
BEGIN
    IF {home}.dbsim_missing(given) THEN
        RETURN '';
    END IF;
    plain := regexp_replace(replace(plain, '(0)', ''),
        '([eE][xX][tT]|[xX]|[dD][uU][rR][cC][hH][wW][aA][hH][lL])\.?[{spaces}]*[{decimals}]+[{spaces}]*$', '');
    plain := {home}.dbsim_stripped(plain);
    found := {home}.dbsim_fold_digits_1(plain);
    found := CASE
        WHEN starts_with(plain, '+') THEN found
        WHEN starts_with(found, '00') THEN substr(found, 3)
        WHEN starts_with(found, '0') THEN country || ltrim(found, '0')
        WHEN country <> '' AND NOT starts_with(found, country) THEN country || found
        ELSE found END;
    RETURN {home}.dbsim_places(found, true);
END
$dbsim$
