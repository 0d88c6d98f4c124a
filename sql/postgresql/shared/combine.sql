-- dbsim.text.arithmetic.combine: one 62-bit hash of a sequence of them. Every number stays below 2^63.
CREATE OR REPLACE FUNCTION {home}.dbsim_combine(hashes bigint[]) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    hash bigint;
    high bigint := 0;
    low bigint := 0;
BEGIN
    FOREACH hash IN ARRAY hashes LOOP
        high := (high * 998244353 + (hash >> 31)) % 2147483647;
        low := (low * 1000000007 + (hash & 2147483647)) % 2147483647;
    END LOOP;
    high := ((high # (high >> 15)) * {mix_1}) & 2147483647;
    high := ((high # (high >> 12)) * {mix_2}) & 2147483647;
    low := ((low # (low >> 15)) * {mix_1}) & 2147483647;
    low := ((low # (low >> 12)) * {mix_2}) & 2147483647;
    RETURN (high # (high >> 15)) << 31 | (low # (low >> 15));
END
$dbsim$
