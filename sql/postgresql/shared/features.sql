-- dbsim.text.features.shingles: dbsim_combine of every run of `size` tokens, rolled on from one run to the next:
-- take the oldest token's share off, multiply, add the new one. A shorter text is one run, filled up with zeros.
CREATE OR REPLACE FUNCTION {home}.dbsim_features(given bigint[], size integer) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    tokens bigint[] := given;
    high_power bigint := 1;
    low_power bigint := 1;
    high bigint := 0;
    low bigint := 0;
    h bigint;
    l bigint;
    found bigint[] := '{}';
BEGIN
    IF cardinality(tokens) = 0 THEN
        RETURN found;
    END IF;
    WHILE cardinality(tokens) < size LOOP
        tokens := tokens || 0::bigint;
    END LOOP;
    FOR step IN 2 .. size LOOP
        high_power := high_power * 998244353 % 2147483647;
        low_power := low_power * 1000000007 % 2147483647;
    END LOOP;
    FOR place IN 1 .. cardinality(tokens) LOOP
        IF place > size THEN
            high := high + 2147483647 - (tokens[place - size] >> 31) * high_power % 2147483647;
            low := low + 2147483647 - (tokens[place - size] & 2147483647) * low_power % 2147483647;
        END IF;
        high := (high * 998244353 + (tokens[place] >> 31)) % 2147483647;
        low := (low * 1000000007 + (tokens[place] & 2147483647)) % 2147483647;
        CONTINUE WHEN place < size;
        h := ((high # (high >> 15)) * {mix_1}) & 2147483647;
        h := ((h # (h >> 12)) * {mix_2}) & 2147483647;
        l := ((low # (low >> 15)) * {mix_1}) & 2147483647;
        l := ((l # (l >> 12)) * {mix_2}) & 2147483647;
        found[place - size + 1] := (h # (h >> 15)) << 31 | (l # (l >> 15));
    END LOOP;
    RETURN found;
END
$dbsim$
