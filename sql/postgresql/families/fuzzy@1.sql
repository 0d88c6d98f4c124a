-- dbsim.hashing.fuzzy with the expected shares of a language: the shares of prefix classes among the words, their
-- deviation from the expected ones as an interval of each scheme, the intervals as digits of a number.
CREATE OR REPLACE FUNCTION {home}.dbsim_fuzzy_1_keys(fields {home}.dbsim_field[], size integer, keys integer, asked_index text)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    letters integer;
    intervals integer;
    absolute boolean;
    digits integer; -- that fit into 62 bits
    classes bigint[];
    masses float8[];
    borders float8[];
    weights float8[];
    counts bigint[];
    total float8;
    present float8 := 0;
    shares float8[];
    digit integer;
    power bigint;
    words bigint[];
    found bigint[] := '{}';
BEGIN
    SELECT numbers[1], numbers[2], numbers[3] = 1, numbers[4] INTO STRICT letters, intervals, absolute, digits
    FROM {home}.dbsim_constant WHERE index_name = asked_index AND name = 'settings';
    SELECT numbers, reals INTO STRICT classes, masses
    FROM {home}.dbsim_constant WHERE index_name = asked_index AND name = 'classes';
    SELECT reals INTO STRICT borders FROM {home}.dbsim_constant WHERE index_name = asked_index AND name = 'borders';
    SELECT reals INTO STRICT weights FROM {home}.dbsim_constant WHERE index_name = asked_index AND name = 'weights';
    shares := array_fill(0::float8, ARRAY[cardinality(masses)]);
    FOR number IN 1 .. cardinality(fields) LOOP
        SELECT array_agg(coalesce(n, 0) ORDER BY class), coalesce(sum(n), 0) INTO counts, total
        FROM generate_series(0, cardinality(masses) - 1) AS c (class) LEFT JOIN (
            SELECT classes[1 + CASE letters WHEN 1 THEN first ELSE first * 27 + second END] AS class, count(*) AS n
            FROM unnest(string_to_array(fields[number].folded, ' ')) AS word,
                LATERAL (SELECT ascii(word) - 96, ascii(substr(word, 2, 1)) - 96) AS s (first, other),
                LATERAL (SELECT CASE WHEN other BETWEEN 1 AND 26 THEN other ELSE 0 END) AS t (second)
            WHERE first BETWEEN 1 AND 26 GROUP BY 1
        ) AS w USING (class);
        IF total > 0 THEN
            present := present + weights[number];
            FOR class IN 1 .. cardinality(masses) LOOP
                shares[class] := shares[class] + weights[number] * counts[class] / total;
            END LOOP;
        END IF;
    END LOOP;
    FOR class IN 1 .. cardinality(masses) LOOP -- from here on deviations
        shares[class] := shares[class] / greatest(present, 1e-300) / masses[class] - 1;
        shares[class] := CASE WHEN absolute THEN abs(shares[class]) ELSE shares[class] END;
    END LOOP;
    FOR scheme IN 0 .. keys - 1 LOOP
        words := '{}';
        FOR class IN 1 .. cardinality(masses) LOOP
            IF (class - 1) % digits = 0 THEN
                words := words || 0::bigint;
                power := 1;
            END IF;
            digit := 0;
            FOR border IN 1 .. intervals - 1 LOOP
                digit := digit + (borders[scheme * (intervals - 1) + border] <= shares[class])::integer;
            END LOOP;
            words[cardinality(words)] := words[cardinality(words)] + digit * power;
            power := power * intervals;
        END LOOP;
        found := found || CASE cardinality(words) WHEN 1 THEN words[1] ELSE {home}.dbsim_combine(words) END;
    END LOOP;
    RETURN found;
END
$dbsim$
