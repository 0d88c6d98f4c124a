-- dbsim.text.normalisers.symbols. A backslash becomes U+2216 first: in the spelling of other characters it is an escape.
CREATE OR REPLACE FUNCTION {home}.dbsim_fold_symbols_1(given text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    folded text COLLATE "C" := regexp_replace(lower(given COLLATE "C"), '([!-/:-@[-`{-~])', ' \1 ', 'g');
BEGIN
    folded := replace(regexp_replace(folded, '[\u0001-\u0020\u007f]+', ' ', 'g'), '\', {home}.dbsim_letter(8726));
    RETURN {home}.dbsim_mapped(folded, 'symbols'::text);
END
$dbsim$
