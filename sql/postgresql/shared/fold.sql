-- dbsim.text.normalise.fold: the mapped text, its tokens separated by one or more spaces; `asked` as an index stores it.
CREATE OR REPLACE FUNCTION {home}.dbsim_fold(given text, asked text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    CASE asked
    {folds}
    ELSE
        IF asked ~ '^kind-phone[+][0-9]+@1$' THEN
            RETURN {home}.dbsim_fold_kind_phone_1(given, substring(asked FROM '[+]([0-9]+)'));
        END IF;
        RAISE 'there is no normaliser % in SQL', asked;
    END CASE;
END
$dbsim$
