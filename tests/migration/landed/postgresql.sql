SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
CREATE TYPE public.dbsim_field AS (
	folded text,
	tokens bigint[],
	features bigint[],
	bits bit varying
);
CREATE FUNCTION public.dbsim_among(these text[], others text[], wanted boolean) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN ARRAY(
        SELECT one.shingle FROM unnest(these) WITH ORDINALITY AS one (shingle, place)
        LEFT JOIN unnest(others) AS other ON other COLLATE "C" = one.shingle COLLATE "C"
        WHERE (other IS NOT NULL) = wanted ORDER BY one.place);
END
$$;
CREATE FUNCTION public.dbsim_analyse(given text, profile text, words boolean, size integer, bits integer, sample integer, secret bytea) RETURNS public.dbsim_field
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    field dbsim_field;
BEGIN
    field.folded := dbsim_fold(coalesce(given, ''), profile);
    field.tokens := dbsim_tokens(
        CASE WHEN words THEN string_to_array(field.folded, ' ') ELSE dbsim_letters(field.folded, size - 1) END, secret);
    field.features := dbsim_features(field.tokens, size);
    field.bits := dbsim_bits(field.features, bits, sample);
    RETURN field;
END
$$;
CREATE FUNCTION public.dbsim_articles_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF to_regclass('public."dbsim_articles_queue"') IS NULL OR to_regclass('public.dbsim_index') IS NULL THEN
        RETURN NULL;
    END IF;
    -- Part of the trigger functions: the primary keys of the changed rows, or of the whole table, into the queue.
IF TG_OP = 'TRUNCATE' OR (
    SELECT count(*) FROM pg_attribute
    WHERE attrelid = TG_RELID AND (attname, atttypid, atttypmod) IN (('id'::name, to_regtype('pg_catalog.int4')::oid, -1))
) < 1 THEN
    INSERT INTO public."dbsim_articles_queue" DEFAULT VALUES;
ELSIF TG_OP = 'INSERT' THEN
    INSERT INTO public."dbsim_articles_queue" ("id") SELECT "id" FROM dbsim_new;
ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO public."dbsim_articles_queue" ("id") SELECT "id" FROM dbsim_old;
ELSE
    INSERT INTO public."dbsim_articles_queue" ("id") SELECT "id" FROM dbsim_old UNION SELECT "id" FROM dbsim_new;
END IF;
IF (SELECT listening FROM public.dbsim_index WHERE name = 'articles') THEN
    PERFORM pg_notify('dbsim_articles', '');
END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION public.dbsim_articles_explain(integer, integer) RETURNS TABLE(field text, weight double precision, estimate double precision, exact double precision, shared_keys integer, shared text[], only_a text[], only_b text[])
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
#variable_conflict use_column
DECLARE
    a "public"."dbsim_articles_signatures";
    b "public"."dbsim_articles_signatures";
    texts_a text[];
    texts_b text[];
    in_common integer;
    total double precision := 0;
    weights double precision := 0;
    shingles_a text[];
    shingles_b text[];
    part record;
BEGIN
    SELECT s.* INTO a FROM "public"."dbsim_articles_signatures" AS s WHERE s."id" = $1;
    SELECT s.* INTO b FROM "public"."dbsim_articles_signatures" AS s WHERE s."id" = $2;
    SELECT ARRAY[coalesce(dbsim_source."body"::text, '')] INTO texts_a FROM "public"."articles" AS dbsim_source WHERE dbsim_source."id" = $1;
    SELECT ARRAY[coalesce(dbsim_source."body"::text, '')] INTO texts_b FROM "public"."articles" AS dbsim_source WHERE dbsim_source."id" = $2;
    IF texts_a IS NULL OR texts_b IS NULL THEN
        RETURN;
    END IF;
    in_common := coalesce((a."k0" = b."k0")::integer, 0) + coalesce((a."k1" = b."k1")::integer, 0) + coalesce((a."k2" = b."k2")::integer, 0);
    FOR part IN SELECT * FROM (VALUES (1, 'body', 1.0::float8, CASE WHEN a."body_count" > 0 AND b."body_count" > 0 THEN greatest(((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(a."body_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION) + round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(b."body_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) - round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((a."body_count" + b."body_count") - bit_count(a."body_bits" & CAST(b."body_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) / CAST((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((a."body_count" + b."body_count") - bit_count(a."body_bits" & CAST(b."body_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) AS DOUBLE PRECISION), 0.0) END, 'text', True, 2)) AS f (number, name, weight, estimate, profile, words, size) LOOP
        shingles_a := dbsim_shingles(texts_a[part.number], part.profile, part.words, part.size);
        shingles_b := dbsim_shingles(texts_b[part.number], part.profile, part.words, part.size);
        field := part.name;
        weight := part.weight;
        estimate := part.estimate;
        shared_keys := in_common;
        shared := dbsim_among(shingles_a, shingles_b, true);
        only_a := dbsim_among(shingles_a, shingles_b, false);
        only_b := dbsim_among(shingles_b, shingles_a, false);
        exact := NULL;
        IF cardinality(shingles_a) > 0 AND cardinality(shingles_b) > 0 THEN
            exact := cardinality(shared)::double precision
                / (cardinality(shared) + cardinality(only_a) + cardinality(only_b));
            total := total + part.weight * exact;
            weights := weights + part.weight;
        END IF;
        RETURN NEXT;
    END LOOP;
    field := NULL;
    weight := NULL;
    estimate := CASE WHEN a."body_count" > 0 AND b."body_count" > 0 THEN greatest(((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(a."body_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION) + round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(b."body_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) - round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((a."body_count" + b."body_count") - bit_count(a."body_bits" & CAST(b."body_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) / CAST((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((a."body_count" + b."body_count") - bit_count(a."body_bits" & CAST(b."body_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) AS DOUBLE PRECISION), 0.0) END;
    exact := total / nullif(weights, 0);
    shared := NULL;
    only_a := NULL;
    only_b := NULL;
    RETURN NEXT;
END
$_$;
CREATE FUNCTION public.dbsim_articles_grant(role regrole) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    EXECUTE 'GRANT SELECT ON "public"."dbsim_articles_signatures", "dbsim_articles_pairs", "dbsim_articles_buckets", dbsim_status, dbsim_unicode TO ' || role;
    EXECUTE 'GRANT EXECUTE ON FUNCTION "public"."dbsim_articles_sees", "public"."dbsim_articles_sign", "public"."dbsim_articles_near", "public"."dbsim_articles_search", "public"."dbsim_articles_similar", "public"."dbsim_articles_explain", "public".dbsim_fold, "public".dbsim_code_point, "public".dbsim_letter, "public".dbsim_letters, "public".dbsim_normalise, "public".dbsim_shingles, "public".dbsim_among TO ' || role;
END
$$;
CREATE FUNCTION public.dbsim_articles_sees(integer) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
BEGIN
    RETURN EXISTS (SELECT FROM "public"."articles" AS dbsim_source WHERE dbsim_source."id" = $1);
END
$_$;
CREATE TABLE public.dbsim_articles (
    id integer NOT NULL,
    fingerprint bigint,
    k0 bigint,
    k1 bigint,
    k2 bigint,
    body_bits bit(128),
    body_count integer NOT NULL,
    body_w0 bigint NOT NULL,
    body_w1 bigint NOT NULL
);
CREATE VIEW public.dbsim_articles_signatures WITH (security_barrier='true') AS
 SELECT id,
    fingerprint,
    k0,
    k1,
    k2,
    body_bits,
    body_count,
    body_w0,
    body_w1
   FROM public.dbsim_articles a
  WHERE (( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_articles'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_articles_sees(id));
CREATE FUNCTION public.dbsim_articles_near(dbsim_question public.dbsim_articles_signatures, threshold double precision, hits integer) RETURNS TABLE(id integer, score double precision)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH candidates AS (
        SELECT a.* FROM "public"."dbsim_articles_signatures" AS a
        WHERE (a."k0" = dbsim_question."k0" OR a."k1" = dbsim_question."k1" OR a."k2" = dbsim_question."k2") AND (a."id") IS DISTINCT FROM (dbsim_question."id")
        LIMIT 1000
    )
    SELECT "id", "score" FROM (SELECT "id", CASE WHEN candidates."body_count" > 0 AND dbsim_question."body_count" > 0 THEN greatest(((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(candidates."body_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION) + round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(dbsim_question."body_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) - round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((candidates."body_count" + dbsim_question."body_count") - bit_count(candidates."body_bits" & CAST(dbsim_question."body_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) / CAST((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((candidates."body_count" + dbsim_question."body_count") - bit_count(candidates."body_bits" & CAST(dbsim_question."body_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) AS DOUBLE PRECISION), 0.0) END AS "score" FROM candidates) AS scored
    WHERE "score" >= coalesce("dbsim_articles_near"."threshold", 0.6)
    ORDER BY "score" DESC, "id" LIMIT "dbsim_articles_near"."hits";
END
$$;
CREATE FUNCTION public.dbsim_articles_search(text, threshold double precision DEFAULT 0.6, hits integer DEFAULT 10) RETURNS TABLE(id integer, score double precision)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT * FROM "public"."dbsim_articles_near"("public"."dbsim_articles_sign"($1), "dbsim_articles_search"."threshold", "dbsim_articles_search"."hits");
END
$_$;
CREATE FUNCTION public.dbsim_articles_sign(text) RETURNS public.dbsim_articles_signatures
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
DECLARE
    key bytea;
    primes bigint[];
    fields dbsim_field[];
    keys bigint[];
    result "public"."dbsim_articles_signatures";
BEGIN
    SELECT decode(i.secret, 'hex'), c.numbers INTO key, primes
    FROM dbsim_index AS i JOIN dbsim_constant AS c ON c.index_name = i.name AND c.name = 'primes' WHERE i.name = 'articles';
    IF primes IS NULL THEN
        RAISE 'index % is not ready to sign in SQL: run "dbsim sync"', 'articles';
    END IF;
    fields := ARRAY[dbsim_analyse($1 COLLATE "C", 'text', True, 2, 128, 1, key)]::dbsim_field[];
    result."body_count" := coalesce(bit_count(fields[1].bits), 0);
    IF cardinality(fields[1].features) = 0 THEN
        RETURN result;
    END IF;
    result."fingerprint" := dbsim_fingerprint(fields, primes);
    keys := dbsim_minhash_1_keys(fields, 1, 3, 'articles');
    result."k0" := keys[1]; result."k1" := keys[2]; result."k2" := keys[3];
    result."body_bits" := fields[1].bits::bit(128);
    RETURN result;
END
$_$;
CREATE FUNCTION public.dbsim_articles_similar(integer, threshold double precision DEFAULT 0.6, hits integer DEFAULT 10) RETURNS TABLE(id integer, score double precision)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
#variable_conflict use_column
DECLARE
    dbsim_question "public"."dbsim_articles_signatures";
BEGIN
    SELECT a.* INTO dbsim_question FROM "public"."dbsim_articles_signatures" AS a WHERE a."id" = $1;
    IF NOT FOUND THEN
        SELECT (signed.own).* INTO dbsim_question FROM (
            SELECT "public"."dbsim_articles_sign"(coalesce(dbsim_source."body"::text, '')) AS own FROM "public"."articles" AS dbsim_source WHERE dbsim_source."id" = $1
        ) AS signed;
        dbsim_question."id" := $1;
    END IF;
    RETURN QUERY SELECT * FROM "public"."dbsim_articles_near"(dbsim_question, "dbsim_articles_similar"."threshold", "dbsim_articles_similar"."hits");
END
$_$;
CREATE FUNCTION public.dbsim_band(signature bigint[], size integer) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    found bigint[] := '{}';
BEGIN
    IF size = 1 THEN
        RETURN signature;
    END IF;
    FOR key IN 1 .. cardinality(signature) / size LOOP
        found[key] := dbsim_combine(signature[(key - 1) * size + 1 : key * size]);
    END LOOP;
    RETURN found;
END
$$;
CREATE FUNCTION public.dbsim_bits(features bigint[], size integer, sample integer) RETURNS bit varying
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    bits bytea := decode(repeat('00', size / 8), 'hex');
    feature bigint;
    smallest bigint := 9223372036854775807;
    place integer;
BEGIN
    IF cardinality(features) = 0 THEN
        RETURN NULL;
    END IF;
    IF sample > 1 THEN
        smallest := (SELECT min(one) FROM unnest(features) AS one);
    END IF;
    FOREACH feature IN ARRAY features LOOP
        CONTINUE WHEN sample > 1 AND feature & (sample - 1) <> 0 AND feature <> smallest;
        place := (feature & 2147483647) * size >> 31;
        bits := set_bit(bits, place # 7, 1);  -- bytea numbers a byte's bits from its lowest, bit strings from the highest
    END LOOP;
    RETURN ('x' || encode(bits, 'hex'))::bit varying;
END
$$;
CREATE FUNCTION public.dbsim_bitsampling_1_keys(fields public.dbsim_field[], size integer, keys integer, asked_index text) RETURNS bigint[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    places bigint[];
    positions integer := size * keys;
    sampled bigint[] := '{}';
    words bigint[];
    word bigint;
    found bigint[] := '{}';
BEGIN
    SELECT numbers INTO STRICT places FROM dbsim_constant WHERE index_name = asked_index AND name = 'sample';
    FOR number IN 1 .. cardinality(fields) LOOP
        FOR place IN (number - 1) * positions + 1 .. number * positions LOOP
            sampled[place] := get_bit(fields[number].bits, places[place]::integer);
        END LOOP;
    END LOOP;
    sampled := dbsim_mixture(sampled, positions, asked_index);
    FOR key IN 0 .. keys - 1 LOOP
        words := '{}';
        word := 0;
        FOR place IN 1 .. size LOOP
            word := word * 2 + sampled[key * size + place];
            IF place % 62 = 0 OR place = size THEN
                words := words || word;
                word := 0;
            END IF;
        END LOOP;
        found[key + 1] := CASE cardinality(words) WHEN 1 THEN words[1] ELSE dbsim_combine(words) END;
    END LOOP;
    RETURN found;
END
$$;
CREATE FUNCTION public.dbsim_code_point(letter text) RETURNS integer
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    bytes bytea := convert_to(letter, 'UTF8');
    length integer := octet_length(bytes);
    code integer := get_byte(bytes, 0);
BEGIN
    IF length > 1 THEN
        code := code & (127 >> length);  -- the bits of the first byte that do not tell the length
        FOR place IN 1 .. length - 1 LOOP
            code := code * 64 + (get_byte(bytes, place) & 63);
        END LOOP;
    END IF;
    RETURN code;
END
$$;
CREATE FUNCTION public.dbsim_combine(hashes bigint[]) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    hash bigint;
    high bigint := 0;
    low bigint := 0;
BEGIN
    FOREACH hash IN ARRAY hashes LOOP
        high := (high * 998244353 + (hash >> 31)) % 2147483647;
        low := (low * 1000000007 + (hash & 2147483647)) % 2147483647;
    END LOOP;
    high := ((high # (high >> 15)) * 739982445) & 2147483647;
    high := ((high # (high >> 12)) * 695872825) & 2147483647;
    low := ((low # (low >> 15)) * 739982445) & 2147483647;
    low := ((low # (low >> 12)) * 695872825) & 2147483647;
    RETURN (high # (high >> 15)) << 31 | (low # (low >> 15));
END
$$;
CREATE FUNCTION public.dbsim_features(given bigint[], size integer) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
        h := ((high # (high >> 15)) * 739982445) & 2147483647;
        h := ((h # (h >> 12)) * 695872825) & 2147483647;
        l := ((low # (low >> 15)) * 739982445) & 2147483647;
        l := ((l # (l >> 12)) * 695872825) & 2147483647;
        found[place - size + 1] := (h # (h >> 15)) << 31 | (l # (l >> 15));
    END LOOP;
    RETURN found;
END
$$;
CREATE FUNCTION public.dbsim_fingerprint(fields public.dbsim_field[], primes bigint[]) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    p bigint := primes[1];
    q bigint := primes[2];
    base_p bigint := 4294967296 % p * (4294967296 % p) % p;
    base_q bigint := 4294967296 % q * (4294967296 % q) % q;
    by_p bigint := 1;
    by_q bigint := 1;
    field dbsim_field;
    token bigint;
    ended boolean := false;
BEGIN
    FOREACH field IN ARRAY fields LOOP
        IF ended THEN
            by_p := (by_p * base_p + base_p + p - 1) % p;
            by_q := (by_q * base_q + base_q + q - 1) % q;
        END IF;
        ended := true;
        FOREACH token IN ARRAY field.tokens LOOP
            by_p := (by_p * base_p + token % p) % p;
            by_q := (by_q * base_q + token % q) % q;
        END LOOP;
    END LOOP;
    RETURN by_p << 30 | by_q;
END
$$;
CREATE FUNCTION public.dbsim_fold(given text, asked text) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    folded text COLLATE "C" := regexp_replace(lower(given COLLATE "C"), '[\u0001-/:-`{-\u007f]+', ' ', 'g');
    utf8 boolean := current_setting('server_encoding') = 'UTF8';
    letters text[] COLLATE "C";
    targets text[] COLLATE "C";
    map jsonb;
BEGIN
    IF octet_length(convert_to(folded, 'UTF8')) > length(folded) THEN
        -- what each non-ASCII character becomes: a profile of its own overrides the table "text"
        SELECT array_agg(kind.letter), array_agg(coalesce((
            SELECT CASE WHEN kind.code <= u.last THEN u.prefix || CASE
                WHEN u.shift IS NULL THEN '' WHEN utf8 THEN chr(kind.code + u.shift)
                ELSE dbsim_letter(kind.code + u.shift) END || u.suffix END
            FROM dbsim_unicode u WHERE u.profile = 'german' AND asked = 'german' AND u.first <= kind.code
            ORDER BY u.first DESC LIMIT 1
        ), (
            SELECT CASE WHEN kind.code <= u.last THEN u.prefix || CASE
                WHEN u.shift IS NULL THEN '' WHEN utf8 THEN chr(kind.code + u.shift)
                ELSE dbsim_letter(kind.code + u.shift) END || u.suffix END
            FROM dbsim_unicode u WHERE u.profile = 'text' AND u.first <= kind.code
            ORDER BY u.first DESC LIMIT 1
        ), ' ')) INTO letters, targets
        FROM (SELECT DISTINCT letter COLLATE "C" AS letter,
                     CASE WHEN utf8 THEN ascii(letter) ELSE dbsim_code_point(letter) END AS code
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
    END IF;
    IF asked = 'digits' THEN
        RETURN regexp_replace(folded, '\\[0-7]{3}|[^0-9]', '', 'g');
    END IF;
    RETURN folded;
END
$$;
CREATE FUNCTION public.dbsim_fuzzy_1_keys(fields public.dbsim_field[], size integer, keys integer, asked_index text) RETURNS bigint[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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
    FROM dbsim_constant WHERE index_name = asked_index AND name = 'settings';
    SELECT numbers, reals INTO STRICT classes, masses
    FROM dbsim_constant WHERE index_name = asked_index AND name = 'classes';
    SELECT reals INTO STRICT borders FROM dbsim_constant WHERE index_name = asked_index AND name = 'borders';
    SELECT reals INTO STRICT weights FROM dbsim_constant WHERE index_name = asked_index AND name = 'weights';
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
        found := found || CASE cardinality(words) WHEN 1 THEN words[1] ELSE dbsim_combine(words) END;
    END LOOP;
    RETURN found;
END
$$;
CREATE FUNCTION public.dbsim_fuzzy_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF to_regclass('public."dbsim_fuzzy_queue"') IS NULL OR to_regclass('public.dbsim_index') IS NULL THEN
        RETURN NULL;
    END IF;
    -- Part of the trigger functions: the primary keys of the changed rows, or of the whole table, into the queue.
IF TG_OP = 'TRUNCATE' OR (
    SELECT count(*) FROM pg_attribute
    WHERE attrelid = TG_RELID AND (attname, atttypid, atttypmod) IN (('id'::name, to_regtype('pg_catalog.int4')::oid, -1))
) < 1 THEN
    INSERT INTO public."dbsim_fuzzy_queue" DEFAULT VALUES;
ELSIF TG_OP = 'INSERT' THEN
    INSERT INTO public."dbsim_fuzzy_queue" ("id") SELECT "id" FROM dbsim_new;
ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO public."dbsim_fuzzy_queue" ("id") SELECT "id" FROM dbsim_old;
ELSE
    INSERT INTO public."dbsim_fuzzy_queue" ("id") SELECT "id" FROM dbsim_old UNION SELECT "id" FROM dbsim_new;
END IF;
IF (SELECT listening FROM public.dbsim_index WHERE name = 'fuzzy') THEN
    PERFORM pg_notify('dbsim_fuzzy', '');
END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION public.dbsim_fuzzy_sees(integer) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
BEGIN
    RETURN EXISTS (SELECT FROM "public"."articles" AS dbsim_source WHERE dbsim_source."id" = $1);
END
$_$;
CREATE FUNCTION public.dbsim_learned_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF to_regclass('public."dbsim_learned_queue"') IS NULL OR to_regclass('public.dbsim_index') IS NULL THEN
        RETURN NULL;
    END IF;
    -- Part of the trigger functions: the primary keys of the changed rows, or of the whole table, into the queue.
IF TG_OP = 'TRUNCATE' OR (
    SELECT count(*) FROM pg_attribute
    WHERE attrelid = TG_RELID AND (attname, atttypid, atttypmod) IN (('id'::name, to_regtype('pg_catalog.int4')::oid, -1))
) < 1 THEN
    INSERT INTO public."dbsim_learned_queue" DEFAULT VALUES;
ELSIF TG_OP = 'INSERT' THEN
    INSERT INTO public."dbsim_learned_queue" ("id") SELECT "id" FROM dbsim_new;
ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO public."dbsim_learned_queue" ("id") SELECT "id" FROM dbsim_old;
ELSE
    INSERT INTO public."dbsim_learned_queue" ("id") SELECT "id" FROM dbsim_old UNION SELECT "id" FROM dbsim_new;
END IF;
IF (SELECT listening FROM public.dbsim_index WHERE name = 'learned') THEN
    PERFORM pg_notify('dbsim_learned', '');
END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION public.dbsim_learned_sees(integer) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
BEGIN
    RETURN EXISTS (SELECT FROM "public"."articles" AS dbsim_source WHERE dbsim_source."id" = $1);
END
$_$;
CREATE FUNCTION public.dbsim_letter(code integer) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF code < 128 OR current_setting('server_encoding') = 'UTF8' THEN
        RETURN chr(code);
    ELSIF code < 2048 THEN
        RETURN encode(decode(to_hex(192 + (code >> 6)) || to_hex(128 + (code & 63)), 'hex'), 'escape');
    ELSIF code < 65536 THEN
        RETURN encode(decode(
            to_hex(224 + (code >> 12)) || to_hex(128 + (code >> 6 & 63)) || to_hex(128 + (code & 63)), 'hex'), 'escape');
    END IF;
    RETURN encode(decode(
        to_hex(240 + (code >> 18)) || to_hex(128 + (code >> 12 & 63)) || to_hex(128 + (code >> 6 & 63))
        || to_hex(128 + (code & 63)), 'hex'), 'escape');
END
$$;
CREATE FUNCTION public.dbsim_letters(folded text, padding integer) RETURNS text[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    joined text COLLATE "C" := replace(btrim(regexp_replace(folded COLLATE "C", ' +', ' ', 'g'), ' '), ' ', '_');
BEGIN
    IF joined = '' THEN
        RETURN '{}';
    END IF;
    joined := repeat('_', padding) || joined || repeat('_', padding);
    IF current_setting('server_encoding') = 'UTF8' THEN
        RETURN string_to_array(joined, NULL);
    END IF;
    RETURN ARRAY(SELECT one[1] FROM regexp_matches(joined, '\\3[0-7]{2}(?:\\2[0-7]{2})+|.', 'g') AS one);
END
$$;
CREATE FUNCTION public.dbsim_minhash_1(features bigint[], positions integer) RETURNS bigint[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    minima bigint[] := array_fill(NULL::bigint, ARRAY[positions]);
    dense bigint[] := minima;
    feature bigint;
    place integer;
    donor dbsim_donor;
BEGIN
    IF cardinality(features) = 0 THEN
        RETURN minima;
    END IF;
    FOR chance IN 0 .. 3 LOOP  -- the range is cut by the high lane; what stays empty gets features by other bits
        FOREACH feature IN ARRAY features LOOP
            place := CASE chance
                WHEN 0 THEN feature >> 31
                WHEN 1 THEN feature & 2147483647
                WHEN 2 THEN (feature >> 31) # (feature & 2147483647)
                ELSE (feature & 2147483647) * 739982445 & 2147483647 END * positions >> 31;
            IF minima[place + 1] IS NULL AND (dense[place + 1] IS NULL OR feature < dense[place + 1]) THEN
                dense[place + 1] := feature;
            END IF;
        END LOOP;
        minima := dense;
        IF array_position(minima, NULL) IS NULL THEN
            RETURN minima;
        END IF;
    END LOOP;
    FOR donor IN
        SELECT d.* FROM dbsim_donor AS d WHERE d.positions = dbsim_minhash_1.positions AND minima[d.part] IS NULL
    LOOP
        FOREACH place IN ARRAY donor.donors LOOP
            IF minima[place] IS NOT NULL THEN
                dense[donor.part] := minima[place];
                EXIT;
            END IF;
        END LOOP;
    END LOOP;
    RETURN dense;
END
$$;
CREATE FUNCTION public.dbsim_minhash_1_keys(fields public.dbsim_field[], size integer, keys integer, asked_index text) RETURNS bigint[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    field dbsim_field;
    signatures bigint[] := '{}';
BEGIN
    FOREACH field IN ARRAY fields LOOP
        signatures := signatures || dbsim_minhash_1(field.features, size * keys);
    END LOOP;
    RETURN dbsim_band(dbsim_mixture(signatures, size * keys, asked_index), size);
END
$$;
CREATE FUNCTION public.dbsim_mixture(signatures bigint[], positions integer, asked_index text) RETURNS bigint[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    choices bigint[];
    found bigint[];
BEGIN
    IF cardinality(signatures) = positions THEN
        RETURN signatures;
    END IF;
    SELECT numbers INTO STRICT choices FROM dbsim_constant WHERE index_name = asked_index AND name = 'choices';
    FOR place IN 1 .. positions LOOP
        FOR choice IN 0 .. cardinality(choices) / positions - 1 LOOP
            found[place] := signatures[choices[choice * positions + place] * positions + place];
            EXIT WHEN found[place] IS NOT NULL;
        END LOOP;
    END LOOP;
    RETURN found;
END
$$;
CREATE FUNCTION public.dbsim_normalise(given text, profile text DEFAULT 'text'::text) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    RETURN btrim(regexp_replace(dbsim_fold(given COLLATE "C", profile), ' +', ' ', 'g'), ' ');
END
$$;
CREATE FUNCTION public.dbsim_rabin_minhash_1_keys(fields public.dbsim_field[], size integer, keys integer, asked_index text) RETURNS bigint[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    primes bigint[];
    field dbsim_field;
    sketches bigint[] := '{}';
BEGIN
    SELECT numbers INTO STRICT primes FROM dbsim_constant WHERE index_name = asked_index AND name = 'sketch';
    FOREACH field IN ARRAY fields LOOP
        sketches := sketches || ARRAY(
            SELECT (SELECT min(feature % prime) FROM unnest(field.features) AS feature)
            FROM unnest(primes) WITH ORDINALITY AS p (prime, place) ORDER BY place);
    END LOOP;
    RETURN dbsim_band(dbsim_mixture(sketches, size * keys, asked_index), size);
END
$$;
CREATE FUNCTION public.dbsim_shingles(given text, profile text, words boolean, size integer) RETURNS text[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    folded text := dbsim_fold(coalesce(given, '') COLLATE "C", profile);
    tokens text[] := CASE WHEN words THEN array_remove(string_to_array(folded, ' '), '')
                          ELSE dbsim_letters(folded, size - 1) END;
    gap text := CASE WHEN words THEN ' ' ELSE '' END;
BEGIN
    IF cardinality(tokens) = 0 THEN
        RETURN '{}';
    END IF;
    RETURN ARRAY(
        SELECT shingle FROM (
            SELECT array_to_string(tokens[place : place + size - 1], gap) COLLATE "C" AS shingle, min(place) AS place
            FROM generate_series(1, greatest(cardinality(tokens) - size + 1, 1)) AS place GROUP BY 1
        ) AS found ORDER BY found.place);
END
$$;
CREATE FUNCTION public.dbsim_tokens(tokens text[], secret bytea) RETURNS bigint[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN ARRAY(
        SELECT ('x' || encode(substr(sha256(secret || decode(token, 'escape')), 1, 8), 'hex'))::bit(62)::bigint
        FROM unnest(tokens) AS token WHERE token <> '' COLLATE "C"
    );
END
$$;
CREATE FUNCTION public.dbsim_weighted_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET row_security TO 'off'
    AS $$
DECLARE
    dbsim_key_1 text[]; dbsim_key_2 integer[];
    signed boolean := false;
    noted boolean := to_regclass('"public"."dbsim_weighted_changes"') IS NOT NULL; -- groups of near-duplicates are stored, see group_tables.py
BEGIN
    IF to_regclass('public."dbsim_weighted_queue"') IS NULL OR to_regclass('public.dbsim_index') IS NULL THEN
        RETURN NULL;
    END IF;
    IF (SELECT state = 'ready' AND wanted IS NULL FROM public.dbsim_index WHERE name = 'weighted')
        AND pg_try_advisory_xact_lock_shared(hashtextextended('dbsim inline weighted', 0)) THEN
        BEGIN
            IF TG_OP = 'TRUNCATE' THEN
                IF noted THEN
                    INSERT INTO "public"."dbsim_weighted_changes" SELECT -1, s."fingerprint", s."k0", s."k1", s."k2" FROM "public"."dbsim_weighted" AS s WHERE s."fingerprint" IS NOT NULL;
                END IF;
                DELETE FROM "public"."dbsim_weighted";
                DELETE FROM "public".dbsim_quarantine WHERE index_name = 'weighted';
                RETURN NULL;
            ELSIF TG_OP = 'INSERT' THEN
                SELECT array_agg(k."part"), array_agg(k."number") INTO dbsim_key_1, dbsim_key_2 FROM (SELECT "part", "number" FROM dbsim_new LIMIT 10000 + 1) AS k;
            ELSIF TG_OP = 'DELETE' THEN
                SELECT array_agg(k."part"), array_agg(k."number") INTO dbsim_key_1, dbsim_key_2 FROM (SELECT "part", "number" FROM dbsim_old LIMIT 10000 + 1) AS k;
            ELSE
                SELECT array_agg(k."part"), array_agg(k."number") INTO dbsim_key_1, dbsim_key_2 FROM (
                    SELECT "part", "number" FROM dbsim_old UNION SELECT "part", "number" FROM dbsim_new LIMIT 10000 + 1) AS k;
            END IF;
            IF coalesce(cardinality(dbsim_key_1), 0) <= 10000 THEN
                -- the table is read again: a trigger of the application may have changed the rows in the meantime
                IF noted THEN
                    INSERT INTO "public"."dbsim_weighted_changes"
                    SELECT -1, s."fingerprint", s."k0", s."k1", s."k2" FROM "public"."dbsim_weighted" AS s JOIN unnest(dbsim_key_1, dbsim_key_2) AS k ("part", "number") ON s."part" = k."part" AND s."number" = k."number" WHERE s."fingerprint" IS NOT NULL;
                END IF;
                DELETE FROM "public"."dbsim_weighted" AS s USING unnest(dbsim_key_1, dbsim_key_2) AS k ("part", "number") WHERE s."part" = k."part" AND s."number" = k."number";
                INSERT INTO public."dbsim_weighted_queue" ("part", "number")
                SELECT k."part", k."number" FROM "public"."notes" AS dbsim_source JOIN unnest(dbsim_key_1, dbsim_key_2) AS k ("part", "number") ON dbsim_source."part" = k."part" AND dbsim_source."number" = k."number"
                WHERE octet_length(coalesce(dbsim_source."title"::text, '')) + octet_length(coalesce(dbsim_source."body"::text, '')) > 1000000;
                INSERT INTO "public"."dbsim_weighted" ("part", "number", "fingerprint", "k0", "k1", "k2", "title_bits", "title_count", "body_bits", "body_count")
                SELECT k."part", k."number", (k.dbsim_signed)."fingerprint", (k.dbsim_signed)."k0", (k.dbsim_signed)."k1", (k.dbsim_signed)."k2", (k.dbsim_signed)."title_bits", (k.dbsim_signed)."title_count", (k.dbsim_signed)."body_bits", (k.dbsim_signed)."body_count" FROM (
                    SELECT k."part", k."number", "public"."dbsim_weighted_sign"(coalesce(dbsim_source."title"::text, ''), coalesce(dbsim_source."body"::text, '')) AS dbsim_signed
                    FROM "public"."notes" AS dbsim_source JOIN unnest(dbsim_key_1, dbsim_key_2) AS k ("part", "number") ON dbsim_source."part" = k."part" AND dbsim_source."number" = k."number"
                    WHERE octet_length(coalesce(dbsim_source."title"::text, '')) + octet_length(coalesce(dbsim_source."body"::text, '')) <= 1000000 OFFSET 0
                ) AS k;
                IF noted THEN
                    INSERT INTO "public"."dbsim_weighted_changes"
                    SELECT 1, s."fingerprint", s."k0", s."k1", s."k2" FROM "public"."dbsim_weighted" AS s JOIN unnest(dbsim_key_1, dbsim_key_2) AS k ("part", "number") ON s."part" = k."part" AND s."number" = k."number" WHERE s."fingerprint" IS NOT NULL;
                END IF;
                signed := true;
            END IF;
        EXCEPTION WHEN OTHERS THEN
            signed := false;
        END;
    END IF;
    IF NOT signed THEN
        -- Part of the trigger functions: the primary keys of the changed rows, or of the whole table, into the queue.
IF TG_OP = 'TRUNCATE' OR (
    SELECT count(*) FROM pg_attribute
    WHERE attrelid = TG_RELID AND (attname, atttypid, atttypmod) IN (('number'::name, to_regtype('pg_catalog.int4')::oid, -1), ('part'::name, to_regtype('pg_catalog.text')::oid, -1))
) < 2 THEN
    INSERT INTO public."dbsim_weighted_queue" DEFAULT VALUES;
ELSIF TG_OP = 'INSERT' THEN
    INSERT INTO public."dbsim_weighted_queue" ("part", "number") SELECT "part", "number" FROM dbsim_new;
ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO public."dbsim_weighted_queue" ("part", "number") SELECT "part", "number" FROM dbsim_old;
ELSE
    INSERT INTO public."dbsim_weighted_queue" ("part", "number") SELECT "part", "number" FROM dbsim_old UNION SELECT "part", "number" FROM dbsim_new;
END IF;
IF (SELECT listening FROM public.dbsim_index WHERE name = 'weighted') THEN
    PERFORM pg_notify('dbsim_weighted', '');
END IF;
    END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION public.dbsim_weighted_explain(text, integer, text, integer) RETURNS TABLE(field text, weight double precision, estimate double precision, exact double precision, shared_keys integer, shared text[], only_a text[], only_b text[])
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
#variable_conflict use_column
DECLARE
    a "public"."dbsim_weighted_signatures";
    b "public"."dbsim_weighted_signatures";
    texts_a text[];
    texts_b text[];
    in_common integer;
    total double precision := 0;
    weights double precision := 0;
    shingles_a text[];
    shingles_b text[];
    part record;
BEGIN
    SELECT s.* INTO a FROM "public"."dbsim_weighted_signatures" AS s WHERE s."part" = $1 AND s."number" = $2;
    SELECT s.* INTO b FROM "public"."dbsim_weighted_signatures" AS s WHERE s."part" = $3 AND s."number" = $4;
    SELECT ARRAY[coalesce(dbsim_source."title"::text, ''), coalesce(dbsim_source."body"::text, '')] INTO texts_a FROM "public"."notes" AS dbsim_source WHERE dbsim_source."part" = $1 AND dbsim_source."number" = $2;
    SELECT ARRAY[coalesce(dbsim_source."title"::text, ''), coalesce(dbsim_source."body"::text, '')] INTO texts_b FROM "public"."notes" AS dbsim_source WHERE dbsim_source."part" = $3 AND dbsim_source."number" = $4;
    IF texts_a IS NULL OR texts_b IS NULL THEN
        RETURN;
    END IF;
    in_common := coalesce((a."k0" = b."k0")::integer, 0) + coalesce((a."k1" = b."k1")::integer, 0) + coalesce((a."k2" = b."k2")::integer, 0);
    FOR part IN SELECT * FROM (VALUES (1, 'title', 1::float8, CASE WHEN a."title_count" > 0 AND b."title_count" > 0 THEN greatest(((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(a."title_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION) + round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(b."title_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) - round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((a."title_count" + b."title_count") - bit_count(a."title_bits" & CAST(b."title_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) / CAST((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((a."title_count" + b."title_count") - bit_count(a."title_bits" & CAST(b."title_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) AS DOUBLE PRECISION), 0.0) END, 'text', True, 2), (2, 'body', 3::float8, CASE WHEN a."body_count" > 0 AND b."body_count" > 0 THEN greatest(((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(a."body_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION) + round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(b."body_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) - round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((a."body_count" + b."body_count") - bit_count(a."body_bits" & CAST(b."body_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) / CAST((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((a."body_count" + b."body_count") - bit_count(a."body_bits" & CAST(b."body_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) AS DOUBLE PRECISION), 0.0) END, 'text', True, 2)) AS f (number, name, weight, estimate, profile, words, size) LOOP
        shingles_a := dbsim_shingles(texts_a[part.number], part.profile, part.words, part.size);
        shingles_b := dbsim_shingles(texts_b[part.number], part.profile, part.words, part.size);
        field := part.name;
        weight := part.weight;
        estimate := part.estimate;
        shared_keys := in_common;
        shared := dbsim_among(shingles_a, shingles_b, true);
        only_a := dbsim_among(shingles_a, shingles_b, false);
        only_b := dbsim_among(shingles_b, shingles_a, false);
        exact := NULL;
        IF cardinality(shingles_a) > 0 AND cardinality(shingles_b) > 0 THEN
            exact := cardinality(shared)::double precision
                / (cardinality(shared) + cardinality(only_a) + cardinality(only_b));
            total := total + part.weight * exact;
            weights := weights + part.weight;
        END IF;
        RETURN NEXT;
    END LOOP;
    field := NULL;
    weight := NULL;
    estimate := (0.0::float8 + CASE WHEN a."title_count" > 0 AND b."title_count" > 0 THEN 1::float8 * greatest(((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(a."title_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION) + round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(b."title_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) - round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((a."title_count" + b."title_count") - bit_count(a."title_bits" & CAST(b."title_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) / CAST((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((a."title_count" + b."title_count") - bit_count(a."title_bits" & CAST(b."title_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) AS DOUBLE PRECISION), 0.0) ELSE 0.0::float8 END + CASE WHEN a."body_count" > 0 AND b."body_count" > 0 THEN 3::float8 * greatest(((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(a."body_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION) + round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(b."body_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) - round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((a."body_count" + b."body_count") - bit_count(a."body_bits" & CAST(b."body_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) / CAST((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((a."body_count" + b."body_count") - bit_count(a."body_bits" & CAST(b."body_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) AS DOUBLE PRECISION), 0.0) ELSE 0.0::float8 END) / NULLIF(0.0::float8 + CASE WHEN a."title_count" > 0 AND b."title_count" > 0 THEN 1::float8 ELSE 0.0::float8 END + CASE WHEN a."body_count" > 0 AND b."body_count" > 0 THEN 3::float8 ELSE 0.0::float8 END, 0.0::float8);
    exact := total / nullif(weights, 0);
    shared := NULL;
    only_a := NULL;
    only_b := NULL;
    RETURN NEXT;
END
$_$;
CREATE FUNCTION public.dbsim_weighted_grant(role regrole) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
BEGIN
    EXECUTE 'GRANT SELECT ON "public"."dbsim_weighted_signatures", "dbsim_weighted_pairs", "dbsim_weighted_buckets", dbsim_status, dbsim_unicode TO ' || role;
    EXECUTE 'GRANT EXECUTE ON FUNCTION "public"."dbsim_weighted_sees", "public"."dbsim_weighted_sign", "public"."dbsim_weighted_near", "public"."dbsim_weighted_search", "public"."dbsim_weighted_similar", "public"."dbsim_weighted_explain", "public".dbsim_fold, "public".dbsim_code_point, "public".dbsim_letter, "public".dbsim_letters, "public".dbsim_normalise, "public".dbsim_shingles, "public".dbsim_among TO ' || role;
END
$$;
CREATE FUNCTION public.dbsim_weighted_sees(text, integer) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
BEGIN
    RETURN EXISTS (SELECT FROM "public"."notes" AS dbsim_source WHERE dbsim_source."part" = $1 AND dbsim_source."number" = $2);
END
$_$;
CREATE TABLE public.dbsim_weighted (
    part text NOT NULL,
    number integer NOT NULL,
    fingerprint bigint,
    k0 bigint,
    k1 bigint,
    k2 bigint,
    title_bits bit(128),
    title_count integer NOT NULL,
    body_bits bit(128),
    body_count integer NOT NULL
);
CREATE VIEW public.dbsim_weighted_signatures WITH (security_barrier='true') AS
 SELECT part,
    number,
    fingerprint,
    k0,
    k1,
    k2,
    title_bits,
    title_count,
    body_bits,
    body_count
   FROM public.dbsim_weighted a
  WHERE (( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_weighted'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."notes"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."notes"'::text))::oid))), false))) OR public.dbsim_weighted_sees(part, number));
CREATE FUNCTION public.dbsim_weighted_near(dbsim_question public.dbsim_weighted_signatures, threshold double precision, hits integer) RETURNS TABLE(part text, number integer, score double precision)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH candidates AS (
        SELECT a.* FROM "public"."dbsim_weighted_signatures" AS a
        WHERE (a."k0" = dbsim_question."k0" OR a."k1" = dbsim_question."k1" OR a."k2" = dbsim_question."k2") AND (a."part", a."number") IS DISTINCT FROM (dbsim_question."part", dbsim_question."number")
        LIMIT 1000
    )
    SELECT "part", "number", "score" FROM (SELECT "part", "number", (0.0::float8 + CASE WHEN candidates."title_count" > 0 AND dbsim_question."title_count" > 0 THEN 1::float8 * greatest(((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(candidates."title_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION) + round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(dbsim_question."title_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) - round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((candidates."title_count" + dbsim_question."title_count") - bit_count(candidates."title_bits" & CAST(dbsim_question."title_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) / CAST((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((candidates."title_count" + dbsim_question."title_count") - bit_count(candidates."title_bits" & CAST(dbsim_question."title_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) AS DOUBLE PRECISION), 0.0) ELSE 0.0::float8 END + CASE WHEN candidates."body_count" > 0 AND dbsim_question."body_count" > 0 THEN 3::float8 * greatest(((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(candidates."body_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION) + round(-134217728.0::float8 * ln(1.0::float8 - least(CAST(dbsim_question."body_count" AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) - round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((candidates."body_count" + dbsim_question."body_count") - bit_count(candidates."body_bits" & CAST(dbsim_question."body_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) / CAST((round(-134217728.0::float8 * ln(1.0::float8 - least(CAST((candidates."body_count" + dbsim_question."body_count") - bit_count(candidates."body_bits" & CAST(dbsim_question."body_bits" AS BIT(128))) AS DOUBLE PRECISION), 127.5::float8) / CAST(128.0::float8 AS DOUBLE PRECISION))) / CAST(1048576.0::float8 AS DOUBLE PRECISION)) AS DOUBLE PRECISION), 0.0) ELSE 0.0::float8 END) / NULLIF(0.0::float8 + CASE WHEN candidates."title_count" > 0 AND dbsim_question."title_count" > 0 THEN 1::float8 ELSE 0.0::float8 END + CASE WHEN candidates."body_count" > 0 AND dbsim_question."body_count" > 0 THEN 3::float8 ELSE 0.0::float8 END, 0.0::float8) AS "score" FROM candidates) AS scored
    WHERE "score" >= coalesce("dbsim_weighted_near"."threshold", 0.6)
    ORDER BY "score" DESC, "part", "number" LIMIT "dbsim_weighted_near"."hits";
END
$$;
CREATE FUNCTION public.dbsim_weighted_search(title text DEFAULT NULL::text, body text DEFAULT NULL::text, threshold double precision DEFAULT 0.6, hits integer DEFAULT 10) RETURNS TABLE(part text, number integer, score double precision)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT * FROM "public"."dbsim_weighted_near"("public"."dbsim_weighted_sign"($1, $2), "dbsim_weighted_search"."threshold", "dbsim_weighted_search"."hits");
END
$_$;
CREATE FUNCTION public.dbsim_weighted_sign(text, text) RETURNS public.dbsim_weighted_signatures
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
DECLARE
    key bytea;
    primes bigint[];
    fields dbsim_field[];
    keys bigint[];
    result "public"."dbsim_weighted_signatures";
BEGIN
    SELECT decode(i.secret, 'hex'), c.numbers INTO key, primes
    FROM dbsim_index AS i JOIN dbsim_constant AS c ON c.index_name = i.name AND c.name = 'primes' WHERE i.name = 'weighted';
    IF primes IS NULL THEN
        RAISE 'index % is not ready to sign in SQL: run "dbsim sync"', 'weighted';
    END IF;
    fields := ARRAY[dbsim_analyse($1 COLLATE "C", 'text', True, 2, 128, 1, key), dbsim_analyse($2 COLLATE "C", 'text', True, 2, 128, 1, key)]::dbsim_field[];
    result."title_count" := coalesce(bit_count(fields[1].bits), 0); result."body_count" := coalesce(bit_count(fields[2].bits), 0);
    IF cardinality(fields[1].features) = 0 AND cardinality(fields[2].features) = 0 THEN
        RETURN result;
    END IF;
    result."fingerprint" := dbsim_fingerprint(fields, primes);
    keys := dbsim_minhash_1_keys(fields, 1, 3, 'weighted');
    result."k0" := keys[1]; result."k1" := keys[2]; result."k2" := keys[3];
    result."title_bits" := fields[1].bits::bit(128); result."body_bits" := fields[2].bits::bit(128);
    RETURN result;
END
$_$;
CREATE FUNCTION public.dbsim_weighted_similar(text, integer, threshold double precision DEFAULT 0.6, hits integer DEFAULT 10) RETURNS TABLE(part text, number integer, score double precision)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
#variable_conflict use_column
DECLARE
    dbsim_question "public"."dbsim_weighted_signatures";
BEGIN
    SELECT a.* INTO dbsim_question FROM "public"."dbsim_weighted_signatures" AS a WHERE a."part" = $1 AND a."number" = $2;
    IF NOT FOUND THEN
        SELECT (signed.own).* INTO dbsim_question FROM (
            SELECT "public"."dbsim_weighted_sign"(coalesce(dbsim_source."title"::text, ''), coalesce(dbsim_source."body"::text, '')) AS own FROM "public"."notes" AS dbsim_source WHERE dbsim_source."part" = $1 AND dbsim_source."number" = $2
        ) AS signed;
        dbsim_question."part" := $1; dbsim_question."number" := $2;
    END IF;
    RETURN QUERY SELECT * FROM "public"."dbsim_weighted_near"(dbsim_question, "dbsim_weighted_similar"."threshold", "dbsim_weighted_similar"."hits");
END
$_$;
CREATE TABLE public.articles (
    id integer NOT NULL,
    body text
);
CREATE VIEW public.dbsim_articles_buckets WITH (security_barrier='true') AS
 SELECT 0 AS key_number,
    a.k0 AS bucket,
    count(*) AS size
   FROM public.dbsim_articles a
  WHERE ((a.k0 IS NOT NULL) AND (( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_articles'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_articles_sees(a.id)))
  GROUP BY a.k0
UNION ALL
 SELECT 1 AS key_number,
    a.k1 AS bucket,
    count(*) AS size
   FROM public.dbsim_articles a
  WHERE ((a.k1 IS NOT NULL) AND (( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_articles'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_articles_sees(a.id)))
  GROUP BY a.k1
UNION ALL
 SELECT 2 AS key_number,
    a.k2 AS bucket,
    count(*) AS size
   FROM public.dbsim_articles a
  WHERE ((a.k2 IS NOT NULL) AND (( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_articles'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_articles_sees(a.id)))
  GROUP BY a.k2;
CREATE TABLE public.dbsim_articles_changes (
    gained smallint,
    fingerprint bigint,
    k0 bigint,
    k1 bigint,
    k2 bigint
);
CREATE TABLE public.dbsim_articles_contents (
    generation integer NOT NULL,
    fingerprint bigint NOT NULL,
    group_id bigint NOT NULL,
    score double precision NOT NULL,
    diameter double precision NOT NULL,
    representative_id integer
);
CREATE TABLE public.dbsim_articles_edges (
    a bigint NOT NULL,
    b bigint NOT NULL,
    score double precision NOT NULL
);
CREATE TABLE public.dbsim_articles_grouping (
    id integer NOT NULL,
    token text NOT NULL,
    version bigint NOT NULL,
    pairing text NOT NULL,
    reached bigint,
    paired boolean NOT NULL,
    settled boolean NOT NULL,
    generation integer NOT NULL,
    "grouping" text NOT NULL,
    limited text NOT NULL
);
CREATE VIEW public.dbsim_articles_groups AS
 SELECT s.id,
    c.group_id,
    c.score,
    c.diameter,
    c.representative_id
   FROM ((public.dbsim_articles_grouping g
     JOIN public.dbsim_articles_contents c ON ((c.generation = g.generation)))
     JOIN public.dbsim_articles s ON ((s.fingerprint = c.fingerprint)));
CREATE VIEW public.dbsim_articles_pairs WITH (security_barrier='true') AS
 SELECT a,
    b,
    score,
    shared_keys
   FROM ( SELECT a.id AS a,
            b.id AS b,
                CASE
                    WHEN ((a.body_count > 0) AND (b.body_count > 0)) THEN GREATEST(((((round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((a.body_count)::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision) + (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((b.body_count)::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)) - (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((((a.body_count + b.body_count) - bit_count((a.body_bits & b.body_bits))))::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)) / (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((((a.body_count + b.body_count) - bit_count((a.body_bits & b.body_bits))))::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)), (0.0)::double precision)
                    ELSE NULL::double precision
                END AS score,
            ((((a.k0 = b.k0))::integer + ((a.k1 = b.k1))::integer) + ((a.k2 = b.k2))::integer) AS shared_keys
           FROM (public.dbsim_articles a
             JOIN public.dbsim_articles b ON ((((a.k0 = b.k0) OR (a.k1 = b.k1) OR (a.k2 = b.k2)) AND (a.id <> b.id))))
          WHERE ((( SELECT (pg_has_role(( SELECT c.relowner
                           FROM pg_class c
                          WHERE (c.oid = ('public.dbsim_articles'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_articles_sees(a.id)) AND (( SELECT (pg_has_role(( SELECT c.relowner
                           FROM pg_class c
                          WHERE (c.oid = ('public.dbsim_articles'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_articles_sees(b.id)))) pair
  WHERE (score >= (0.6)::double precision);
CREATE TABLE public.dbsim_articles_queue (
    id integer,
    queued_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE public.dbsim_cardinality (
    bits integer NOT NULL,
    count integer NOT NULL,
    estimate double precision NOT NULL
);
CREATE TABLE public.dbsim_constant (
    index_name text NOT NULL,
    name text NOT NULL,
    numbers bigint[] NOT NULL,
    reals double precision[] NOT NULL
);
CREATE TABLE public.dbsim_document (
    id bigint NOT NULL,
    text text,
    source text
);
CREATE SEQUENCE public.dbsim_document_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.dbsim_document_id_seq OWNED BY public.dbsim_document.id;
CREATE TABLE public.dbsim_donor (
    positions integer NOT NULL,
    part integer NOT NULL,
    donors integer[] NOT NULL
);
CREATE TABLE public.dbsim_fuzzy (
    id integer NOT NULL,
    fingerprint bigint,
    k0 bigint,
    k1 bigint,
    body_bits bit(128),
    body_count integer NOT NULL
);
CREATE VIEW public.dbsim_fuzzy_buckets WITH (security_barrier='true') AS
 SELECT 0 AS key_number,
    a.k0 AS bucket,
    count(*) AS size
   FROM public.dbsim_fuzzy a
  WHERE ((a.k0 IS NOT NULL) AND (( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_fuzzy'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_fuzzy_sees(a.id)))
  GROUP BY a.k0
UNION ALL
 SELECT 1 AS key_number,
    a.k1 AS bucket,
    count(*) AS size
   FROM public.dbsim_fuzzy a
  WHERE ((a.k1 IS NOT NULL) AND (( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_fuzzy'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_fuzzy_sees(a.id)))
  GROUP BY a.k1;
CREATE VIEW public.dbsim_fuzzy_pairs WITH (security_barrier='true') AS
 SELECT a,
    b,
    score,
    shared_keys
   FROM ( SELECT a.id AS a,
            b.id AS b,
                CASE
                    WHEN ((a.body_count > 0) AND (b.body_count > 0)) THEN GREATEST(((((round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((a.body_count)::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision) + (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((b.body_count)::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)) - (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((((a.body_count + b.body_count) - bit_count((a.body_bits & b.body_bits))))::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)) / (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((((a.body_count + b.body_count) - bit_count((a.body_bits & b.body_bits))))::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)), (0.0)::double precision)
                    ELSE NULL::double precision
                END AS score,
            (((a.k0 = b.k0))::integer + ((a.k1 = b.k1))::integer) AS shared_keys
           FROM (public.dbsim_fuzzy a
             JOIN public.dbsim_fuzzy b ON ((((a.k0 = b.k0) OR (a.k1 = b.k1)) AND (a.id <> b.id))))
          WHERE ((( SELECT (pg_has_role(( SELECT c.relowner
                           FROM pg_class c
                          WHERE (c.oid = ('public.dbsim_fuzzy'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_fuzzy_sees(a.id)) AND (( SELECT (pg_has_role(( SELECT c.relowner
                           FROM pg_class c
                          WHERE (c.oid = ('public.dbsim_fuzzy'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_fuzzy_sees(b.id)))) pair
  WHERE (score >= (0.0)::double precision);
CREATE TABLE public.dbsim_fuzzy_queue (
    id integer,
    queued_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP
);
CREATE VIEW public.dbsim_fuzzy_signatures WITH (security_barrier='true') AS
 SELECT id,
    fingerprint,
    k0,
    k1,
    body_bits,
    body_count
   FROM public.dbsim_fuzzy a
  WHERE (( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_fuzzy'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_fuzzy_sees(id));
CREATE TABLE public.dbsim_generation (
    index_name text NOT NULL,
    generation integer NOT NULL,
    options text NOT NULL,
    family text NOT NULL,
    state text NOT NULL,
    retired_at bigint
);
CREATE TABLE public.dbsim_index (
    name text NOT NULL,
    source_schema text,
    source_table text NOT NULL,
    primary_key text NOT NULL,
    options text NOT NULL,
    family text NOT NULL,
    secret text NOT NULL,
    unicode_version text NOT NULL,
    generation integer NOT NULL,
    state text NOT NULL,
    stamp text NOT NULL,
    wanted integer,
    listening boolean NOT NULL
);
CREATE TABLE public.dbsim_learned (
    id integer NOT NULL,
    fingerprint bigint,
    k0 bigint,
    k1 bigint,
    body_bits bit(128),
    body_count integer NOT NULL
);
CREATE VIEW public.dbsim_learned_buckets WITH (security_barrier='true') AS
 SELECT 0 AS key_number,
    a.k0 AS bucket,
    count(*) AS size
   FROM public.dbsim_learned a
  WHERE ((a.k0 IS NOT NULL) AND (( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_learned'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_learned_sees(a.id)))
  GROUP BY a.k0
UNION ALL
 SELECT 1 AS key_number,
    a.k1 AS bucket,
    count(*) AS size
   FROM public.dbsim_learned a
  WHERE ((a.k1 IS NOT NULL) AND (( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_learned'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_learned_sees(a.id)))
  GROUP BY a.k1;
CREATE VIEW public.dbsim_learned_pairs WITH (security_barrier='true') AS
 SELECT a,
    b,
    score,
    shared_keys
   FROM ( SELECT a.id AS a,
            b.id AS b,
                CASE
                    WHEN ((a.body_count > 0) AND (b.body_count > 0)) THEN GREATEST(((((round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((a.body_count)::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision) + (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((b.body_count)::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)) - (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((((a.body_count + b.body_count) - bit_count((a.body_bits & b.body_bits))))::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)) / (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((((a.body_count + b.body_count) - bit_count((a.body_bits & b.body_bits))))::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)), (0.0)::double precision)
                    ELSE NULL::double precision
                END AS score,
            (((a.k0 = b.k0))::integer + ((a.k1 = b.k1))::integer) AS shared_keys
           FROM (public.dbsim_learned a
             JOIN public.dbsim_learned b ON ((((a.k0 = b.k0) OR (a.k1 = b.k1)) AND (a.id <> b.id))))
          WHERE ((( SELECT (pg_has_role(( SELECT c.relowner
                           FROM pg_class c
                          WHERE (c.oid = ('public.dbsim_learned'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_learned_sees(a.id)) AND (( SELECT (pg_has_role(( SELECT c.relowner
                           FROM pg_class c
                          WHERE (c.oid = ('public.dbsim_learned'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_learned_sees(b.id)))) pair
  WHERE (score >= (0.0)::double precision);
CREATE TABLE public.dbsim_learned_queue (
    id integer,
    queued_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP
);
CREATE VIEW public.dbsim_learned_signatures WITH (security_barrier='true') AS
 SELECT id,
    fingerprint,
    k0,
    k1,
    body_bits,
    body_count
   FROM public.dbsim_learned a
  WHERE (( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_learned'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))) OR public.dbsim_learned_sees(id));
CREATE TABLE public.dbsim_model (
    index_name text NOT NULL,
    generation integer NOT NULL,
    name text NOT NULL,
    dtype text NOT NULL,
    shape text NOT NULL,
    numbers bytea NOT NULL,
    sample integer NOT NULL,
    seed text NOT NULL,
    version text NOT NULL
);
CREATE TABLE public.dbsim_quarantine (
    index_name text NOT NULL,
    generation integer NOT NULL,
    source_key text NOT NULL,
    reason text NOT NULL
);
CREATE TABLE public.dbsim_weighted_queue (
    part text,
    number integer,
    queued_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP
);
CREATE VIEW public.dbsim_status WITH (security_barrier='true') AS
 SELECT i.name AS index_name,
    'public.articles'::text AS source_table,
    i.state,
    i.generation,
    ( SELECT count(*) AS count
           FROM public.dbsim_articles) AS rows,
    ( SELECT count(dbsim_articles.fingerprint) AS count
           FROM public.dbsim_articles) AS indexed,
    ( SELECT count(*) AS count
           FROM public.dbsim_articles_queue) AS queued,
    ( SELECT min(dbsim_articles_queue.queued_at) AS min
           FROM public.dbsim_articles_queue) AS oldest_queued,
    ( SELECT count(*) AS count
           FROM public.dbsim_quarantine q
          WHERE ((q.index_name = i.name) AND (q.generation = i.generation))) AS quarantined,
    ((NOT (EXISTS ( SELECT
           FROM unnest(ARRAY['dbsim_articles_insert'::name, 'dbsim_articles_update'::name, 'dbsim_articles_delete'::name, 'dbsim_articles_truncate'::name]) wanted(wanted),
            ( SELECT to_regclass('"public"."articles"'::text) AS relid
                UNION
                 SELECT pg_partition_tree.relid
                   FROM pg_partition_tree(to_regclass('"public"."articles"'::text)) pg_partition_tree(relid, parentrelid, isleaf, level)) part
          WHERE (NOT (EXISTS ( SELECT
                   FROM pg_trigger g
                  WHERE ((g.tgrelid = (part.relid)::oid) AND (g.tgname = wanted.wanted) AND (g.tgenabled <> 'D'::"char")))))))) AND (to_regclass('"public"."articles"'::text) IS NOT NULL)) AS triggers_in_place
   FROM public.dbsim_index i
  WHERE ((i.name = 'articles'::text) AND ( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_articles'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))))
UNION ALL
 SELECT i.name AS index_name,
    'public.articles'::text AS source_table,
    i.state,
    i.generation,
    ( SELECT count(*) AS count
           FROM public.dbsim_fuzzy) AS rows,
    ( SELECT count(dbsim_fuzzy.fingerprint) AS count
           FROM public.dbsim_fuzzy) AS indexed,
    ( SELECT count(*) AS count
           FROM public.dbsim_fuzzy_queue) AS queued,
    ( SELECT min(dbsim_fuzzy_queue.queued_at) AS min
           FROM public.dbsim_fuzzy_queue) AS oldest_queued,
    ( SELECT count(*) AS count
           FROM public.dbsim_quarantine q
          WHERE ((q.index_name = i.name) AND (q.generation = i.generation))) AS quarantined,
    ((NOT (EXISTS ( SELECT
           FROM unnest(ARRAY['dbsim_fuzzy_insert'::name, 'dbsim_fuzzy_update'::name, 'dbsim_fuzzy_delete'::name, 'dbsim_fuzzy_truncate'::name]) wanted(wanted),
            ( SELECT to_regclass('"public"."articles"'::text) AS relid
                UNION
                 SELECT pg_partition_tree.relid
                   FROM pg_partition_tree(to_regclass('"public"."articles"'::text)) pg_partition_tree(relid, parentrelid, isleaf, level)) part
          WHERE (NOT (EXISTS ( SELECT
                   FROM pg_trigger g
                  WHERE ((g.tgrelid = (part.relid)::oid) AND (g.tgname = wanted.wanted) AND (g.tgenabled <> 'D'::"char")))))))) AND (to_regclass('"public"."articles"'::text) IS NOT NULL)) AS triggers_in_place
   FROM public.dbsim_index i
  WHERE ((i.name = 'fuzzy'::text) AND ( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_fuzzy'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))))
UNION ALL
 SELECT i.name AS index_name,
    'public.articles'::text AS source_table,
    i.state,
    i.generation,
    ( SELECT count(*) AS count
           FROM public.dbsim_learned) AS rows,
    ( SELECT count(dbsim_learned.fingerprint) AS count
           FROM public.dbsim_learned) AS indexed,
    ( SELECT count(*) AS count
           FROM public.dbsim_learned_queue) AS queued,
    ( SELECT min(dbsim_learned_queue.queued_at) AS min
           FROM public.dbsim_learned_queue) AS oldest_queued,
    ( SELECT count(*) AS count
           FROM public.dbsim_quarantine q
          WHERE ((q.index_name = i.name) AND (q.generation = i.generation))) AS quarantined,
    ((NOT (EXISTS ( SELECT
           FROM unnest(ARRAY['dbsim_learned_insert'::name, 'dbsim_learned_update'::name, 'dbsim_learned_delete'::name, 'dbsim_learned_truncate'::name]) wanted(wanted),
            ( SELECT to_regclass('"public"."articles"'::text) AS relid
                UNION
                 SELECT pg_partition_tree.relid
                   FROM pg_partition_tree(to_regclass('"public"."articles"'::text)) pg_partition_tree(relid, parentrelid, isleaf, level)) part
          WHERE (NOT (EXISTS ( SELECT
                   FROM pg_trigger g
                  WHERE ((g.tgrelid = (part.relid)::oid) AND (g.tgname = wanted.wanted) AND (g.tgenabled <> 'D'::"char")))))))) AND (to_regclass('"public"."articles"'::text) IS NOT NULL)) AS triggers_in_place
   FROM public.dbsim_index i
  WHERE ((i.name = 'learned'::text) AND ( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_learned'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."articles"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."articles"'::text))::oid))), false))))
UNION ALL
 SELECT i.name AS index_name,
    'public.notes'::text AS source_table,
    i.state,
    i.generation,
    ( SELECT count(*) AS count
           FROM public.dbsim_weighted) AS rows,
    ( SELECT count(dbsim_weighted.fingerprint) AS count
           FROM public.dbsim_weighted) AS indexed,
    ( SELECT count(*) AS count
           FROM public.dbsim_weighted_queue) AS queued,
    ( SELECT min(dbsim_weighted_queue.queued_at) AS min
           FROM public.dbsim_weighted_queue) AS oldest_queued,
    ( SELECT count(*) AS count
           FROM public.dbsim_quarantine q
          WHERE ((q.index_name = i.name) AND (q.generation = i.generation))) AS quarantined,
    ((NOT (EXISTS ( SELECT
           FROM unnest(ARRAY['dbsim_weighted_insert'::name, 'dbsim_weighted_update'::name, 'dbsim_weighted_delete'::name, 'dbsim_weighted_truncate'::name]) wanted(wanted),
            ( SELECT to_regclass('"public"."notes"'::text) AS relid
                UNION
                 SELECT pg_partition_tree.relid
                   FROM pg_partition_tree(to_regclass('"public"."notes"'::text)) pg_partition_tree(relid, parentrelid, isleaf, level)) part
          WHERE (NOT (EXISTS ( SELECT
                   FROM pg_trigger g
                  WHERE ((g.tgrelid = (part.relid)::oid) AND (g.tgname = wanted.wanted) AND (g.tgenabled <> 'D'::"char")))))))) AND (to_regclass('"public"."notes"'::text) IS NOT NULL)) AS triggers_in_place
   FROM public.dbsim_index i
  WHERE ((i.name = 'weighted'::text) AND ( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_weighted'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."notes"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."notes"'::text))::oid))), false))));
CREATE TABLE public.dbsim_unicode (
    profile text NOT NULL COLLATE pg_catalog."C",
    first integer NOT NULL,
    last integer NOT NULL,
    prefix text NOT NULL,
    shift integer,
    suffix text NOT NULL
);
CREATE TABLE public.dbsim_version (
    version_num character varying(32) NOT NULL
);
CREATE VIEW public.dbsim_weighted_buckets WITH (security_barrier='true') AS
 SELECT 0 AS key_number,
    a.k0 AS bucket,
    count(*) AS size
   FROM public.dbsim_weighted a
  WHERE ((a.k0 IS NOT NULL) AND (( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_weighted'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."notes"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."notes"'::text))::oid))), false))) OR public.dbsim_weighted_sees(a.part, a.number)))
  GROUP BY a.k0
UNION ALL
 SELECT 1 AS key_number,
    a.k1 AS bucket,
    count(*) AS size
   FROM public.dbsim_weighted a
  WHERE ((a.k1 IS NOT NULL) AND (( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_weighted'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."notes"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."notes"'::text))::oid))), false))) OR public.dbsim_weighted_sees(a.part, a.number)))
  GROUP BY a.k1
UNION ALL
 SELECT 2 AS key_number,
    a.k2 AS bucket,
    count(*) AS size
   FROM public.dbsim_weighted a
  WHERE ((a.k2 IS NOT NULL) AND (( SELECT (pg_has_role(( SELECT c.relowner
                   FROM pg_class c
                  WHERE (c.oid = ('public.dbsim_weighted'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."notes"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."notes"'::text))::oid))), false))) OR public.dbsim_weighted_sees(a.part, a.number)))
  GROUP BY a.k2;
CREATE TABLE public.dbsim_weighted_changes (
    gained smallint,
    fingerprint bigint,
    k0 bigint,
    k1 bigint,
    k2 bigint
);
CREATE TABLE public.dbsim_weighted_contents (
    generation integer NOT NULL,
    fingerprint bigint NOT NULL,
    group_id bigint NOT NULL,
    score double precision NOT NULL,
    diameter double precision NOT NULL,
    representative_part text,
    representative_number integer
);
CREATE TABLE public.dbsim_weighted_edges (
    a bigint NOT NULL,
    b bigint NOT NULL,
    score double precision NOT NULL
);
CREATE TABLE public.dbsim_weighted_grouping (
    id integer NOT NULL,
    token text NOT NULL,
    version bigint NOT NULL,
    pairing text NOT NULL,
    reached bigint,
    paired boolean NOT NULL,
    settled boolean NOT NULL,
    generation integer NOT NULL,
    "grouping" text NOT NULL,
    limited text NOT NULL
);
CREATE VIEW public.dbsim_weighted_groups AS
 SELECT s.part,
    s.number,
    c.group_id,
    c.score,
    c.diameter,
    c.representative_part,
    c.representative_number
   FROM ((public.dbsim_weighted_grouping g
     JOIN public.dbsim_weighted_contents c ON ((c.generation = g.generation)))
     JOIN public.dbsim_weighted s ON ((s.fingerprint = c.fingerprint)));
CREATE VIEW public.dbsim_weighted_pairs WITH (security_barrier='true') AS
 SELECT a_part,
    a_number,
    b_part,
    b_number,
    score,
    shared_keys
   FROM ( SELECT a.part AS a_part,
            a.number AS a_number,
            b.part AS b_part,
            b.number AS b_number,
            ((((0.0)::double precision +
                CASE
                    WHEN ((a.title_count > 0) AND (b.title_count > 0)) THEN ((1)::double precision * GREATEST(((((round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((a.title_count)::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision) + (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((b.title_count)::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)) - (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((((a.title_count + b.title_count) - bit_count((a.title_bits & b.title_bits))))::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)) / (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((((a.title_count + b.title_count) - bit_count((a.title_bits & b.title_bits))))::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)), (0.0)::double precision))
                    ELSE (0.0)::double precision
                END) +
                CASE
                    WHEN ((a.body_count > 0) AND (b.body_count > 0)) THEN ((3)::double precision * GREATEST(((((round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((a.body_count)::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision) + (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((b.body_count)::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)) - (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((((a.body_count + b.body_count) - bit_count((a.body_bits & b.body_bits))))::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)) / (round(((- (134217728.0)::double precision) * ln(((1.0)::double precision - (LEAST((((a.body_count + b.body_count) - bit_count((a.body_bits & b.body_bits))))::double precision, (127.5)::double precision) / (128.0)::double precision))))) / (1048576.0)::double precision)), (0.0)::double precision))
                    ELSE (0.0)::double precision
                END) / NULLIF((((0.0)::double precision +
                CASE
                    WHEN ((a.title_count > 0) AND (b.title_count > 0)) THEN (1)::double precision
                    ELSE (0.0)::double precision
                END) +
                CASE
                    WHEN ((a.body_count > 0) AND (b.body_count > 0)) THEN (3)::double precision
                    ELSE (0.0)::double precision
                END), (0.0)::double precision)) AS score,
            ((((a.k0 = b.k0))::integer + ((a.k1 = b.k1))::integer) + ((a.k2 = b.k2))::integer) AS shared_keys
           FROM (public.dbsim_weighted a
             JOIN public.dbsim_weighted b ON ((((a.k0 = b.k0) OR (a.k1 = b.k1) OR (a.k2 = b.k2)) AND ((a.part <> b.part) OR (a.number <> b.number)))))
          WHERE ((( SELECT (pg_has_role(( SELECT c.relowner
                           FROM pg_class c
                          WHERE (c.oid = ('public.dbsim_weighted'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."notes"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."notes"'::text))::oid))), false))) OR public.dbsim_weighted_sees(a.part, a.number)) AND (( SELECT (pg_has_role(( SELECT c.relowner
                           FROM pg_class c
                          WHERE (c.oid = ('public.dbsim_weighted'::regclass)::oid)), 'USAGE'::text) OR COALESCE((has_table_privilege((to_regclass('"public"."notes"'::text))::oid, 'SELECT'::text) AND (NOT row_security_active((to_regclass('"public"."notes"'::text))::oid))), false))) OR public.dbsim_weighted_sees(b.part, b.number)))) pair
  WHERE (score >= (0.6)::double precision);
CREATE TABLE public.notes (
    part text NOT NULL,
    number integer NOT NULL,
    title text,
    body text
);
ALTER TABLE ONLY public.dbsim_document ALTER COLUMN id SET DEFAULT nextval('public.dbsim_document_id_seq'::regclass);
INSERT INTO public.articles VALUES (1, 'napkin dagger yarrow meadow nectar brook delta amber heath lantern engine rocket willow canvas');
INSERT INTO public.articles VALUES (2, 'NAPKIN DAGGER YARROW MEADOW NECTAR BROOK DELTA AMBER HEATH LANTERN ENGINE ROCKET WILLOW CANVAS!');
INSERT INTO public.articles VALUES (3, 'napkin dagger yarrow meadow nectar brook delta amber heath lantern engine rocket willow other');
INSERT INTO public.articles VALUES (4, 'valley yarrow insect salmon brook grove mirror salmon lagoon orchard oyster thicket meadow mirror');
INSERT INTO public.articles VALUES (5, 'VALLEY YARROW INSECT SALMON BROOK GROVE MIRROR SALMON LAGOON ORCHARD OYSTER THICKET MEADOW MIRROR!');
INSERT INTO public.articles VALUES (6, 'valley yarrow insect salmon brook grove mirror salmon lagoon orchard oyster thicket meadow other');
INSERT INTO public.articles VALUES (7, 'mirror lagoon ember nectar saddle lantern upland ember pebble canvas lantern harbor violin islet');
INSERT INTO public.articles VALUES (8, 'MIRROR LAGOON EMBER NECTAR SADDLE LANTERN UPLAND EMBER PEBBLE CANVAS LANTERN HARBOR VIOLIN ISLET!');
INSERT INTO public.articles VALUES (11, NULL);
INSERT INTO public.articles VALUES (20, 'valley yarrow insect salmon brook grove mirror salmon lagoon orchard oyster thicket meadow mirror');
INSERT INTO public.articles VALUES (10, 'mirror lagoon ember nectar saddle lantern upland ember pebble canvas lantern harbor violin islet');
INSERT INTO public.dbsim_articles VALUES (1, 418710733580129929, 269380351613776298, 2806428748301509805, 3310143163201613726, B'01000000010000000000000001000000001000010000000000000000000000000000101100000000000001100001000000000000001000000000000000000000', 12, -8679199354984090451, 3972027306183820397);
INSERT INTO public.dbsim_articles VALUES (2, 418710733580129929, 269380351613776298, 2806428748301509805, 3310143163201613726, B'01000000010000000000000001000000001000010000000000000000000000000000101100000000000001100001000000000000001000000000000000000000', 12, -8679199354984090451, 3972027306183820397);
INSERT INTO public.dbsim_articles VALUES (3, 389414299896027367, 269380351613776298, 2806428748301509805, 3310143163201613726, B'01000000010000000000000001100000001000010000000000000000000000000000101100000000000001100001000000000000001000000000000000000000', 13, -8674555017868362515, 3899960933769348205);
INSERT INTO public.dbsim_articles VALUES (4, 271043700978469914, 260311166240868736, 1809736769894834684, 3517994952648459943, B'00000000000000000000000000100000000000000000000000100010000000000000010001001000001000000000000100100000010000000010000000100100', 13, 3412330730774606020, 1997454801258505321);
INSERT INTO public.dbsim_articles VALUES (5, 271043700978469914, 260311166240868736, 1809736769894834684, 3517994952648459943, B'00000000000000000000000000100000000000000000000000100010000000000000010001001000001000000000000100100000010000000010000000100100', 13, 3412330730774606020, 1997454801258505321);
INSERT INTO public.dbsim_articles VALUES (6, 218581138689914027, 260311166240868736, 1941144547614112852, 3517994952648459943, B'00000000000000000000000000100000000000000000000000100010000000000000010001001000001000000000000100100000010010000010000000000100', 13, 3412471468262963396, 1997454801795376233);
INSERT INTO public.dbsim_articles VALUES (7, 550433507067741792, 253313800079596858, 2127178273311517622, 3283967755708899281, B'00000001001000000000000000110010000000000000000000110000000000001000000000001000000000000000000000000000000100000000000100000100', 12, 3871684056032058605, 5572635090683893864);
INSERT INTO public.dbsim_articles VALUES (8, 550433507067741792, 253313800079596858, 2127178273311517622, 3283967755708899281, B'00000001001000000000000000110010000000000000000000110000000000001000000000001000000000000000000000000000000100000000000100000100', 12, 3871684056032058605, 5572635090683893864);
INSERT INTO public.dbsim_articles VALUES (9, 240646162770646928, 98508226433647050, 2127178273311517622, 3283967755708899281, B'00000001001000000000000000110000000000000000000000110000000000001000100000001000000000000000000000000000000100000000000100000100', 12, 3871684056032058605, 4996174334622373928);
INSERT INTO public.dbsim_articles VALUES (10, 457964609761012341, 336192655617560865, 1558287098630952242, 3124385332390334361, B'00000000000001000000000000000000000000000001001000001000010000000000000000000000000000001000000001000010000110010000001000000000', 12, -8968908771366719446, 1976460425911149161);
INSERT INTO public.dbsim_articles VALUES (11, NULL, NULL, NULL, NULL, NULL, 0, 0, 0);
INSERT INTO public.dbsim_articles_contents VALUES (1, 418710733580129929, 418710733580129929, 1, 0.08084229621576255, 1);
INSERT INTO public.dbsim_articles_contents VALUES (1, 389414299896027367, 418710733580129929, 0.9191577037842374, 0.08084229621576255, 1);
INSERT INTO public.dbsim_articles_contents VALUES (1, 271043700978469914, 271043700978469914, 1, 0.15079936987201703, 4);
INSERT INTO public.dbsim_articles_contents VALUES (1, 218581138689914027, 271043700978469914, 0.849200630127983, 0.15079936987201703, 4);
INSERT INTO public.dbsim_articles_contents VALUES (1, 550433507067741792, 550433507067741792, 1, 0.1616845924315251, 7);
INSERT INTO public.dbsim_articles_contents VALUES (1, 240646162770646928, 550433507067741792, 0.8383154075684749, 0.1616845924315251, 7);
INSERT INTO public.dbsim_articles_edges VALUES (218581138689914027, 271043700978469914, 0.849200630127983);
INSERT INTO public.dbsim_articles_edges VALUES (240646162770646928, 550433507067741792, 0.8383154075684749);
INSERT INTO public.dbsim_articles_edges VALUES (389414299896027367, 418710733580129929, 0.9191577037842374);
INSERT INTO public.dbsim_articles_grouping VALUES (1, 'e58e75a9e3c2c814', 6, '{"limits": {"bucket": 400, "depth": 3, "representatives": 16}, "threshold": 0.6, "verify": false}', 550433507067741792, true, true, 1, '{"by": "tight", "threshold": 0.6}', '{"buckets": 0, "contents": 0, "largest": 0}');
INSERT INTO public.dbsim_articles_queue VALUES (20, '2026-11-17 21:25:37.32703+00');
INSERT INTO public.dbsim_articles_queue VALUES (10, '2026-11-17 21:25:37.32703+00');
INSERT INTO public.dbsim_articles_queue VALUES (9, '2026-11-17 21:25:37.32703+00');
INSERT INTO public.dbsim_constant VALUES ('', 'unicode 15.1.0', '{1}', '{}');
INSERT INTO public.dbsim_constant VALUES ('articles', 'primes', '{607563157,1071183011}', '{}');
INSERT INTO public.dbsim_constant VALUES ('weighted', 'primes', '{607563157,1071183011}', '{}');
INSERT INTO public.dbsim_constant VALUES ('weighted', 'choices', '{1,1,0,0,0,1}', '{}');
INSERT INTO public.dbsim_fuzzy VALUES (1, 418710733580129929, 2541859443394, 2541859443393, B'01000000010000000000000001000000001000010000000000000000000000000000101100000000000001100001000000000000001000000000000000000000', 12);
INSERT INTO public.dbsim_fuzzy VALUES (2, 418710733580129929, 2541859443394, 2541859443393, B'01000000010000000000000001000000001000010000000000000000000000000000101100000000000001100001000000000000001000000000000000000000', 12);
INSERT INTO public.dbsim_fuzzy VALUES (3, 389414299896027367, 2541859444123, 2541859444122, B'01000000010000000000000001100000001000010000000000000000000000000000101100000000000001100001000000000000001000000000000000000000', 13);
INSERT INTO public.dbsim_fuzzy VALUES (4, 271043700978469914, 2541865827976, 2541865827975, B'00000000000000000000000000100000000000000000000000100010000000000000010001001000001000000000000100100000010000000010000000100100', 13);
INSERT INTO public.dbsim_fuzzy VALUES (5, 271043700978469914, 2541865827976, 2541865827975, B'00000000000000000000000000100000000000000000000000100010000000000000010001001000001000000000000100100000010000000010000000100100', 13);
INSERT INTO public.dbsim_fuzzy VALUES (6, 218581138689914027, 2541865827967, 2541865827957, B'00000000000000000000000000100000000000000000000000100010000000000000010001001000001000000000000100100000010010000010000000000100', 13);
INSERT INTO public.dbsim_fuzzy VALUES (7, 550433507067741792, 2541861038054, 2541861038045, B'00000001001000000000000000110010000000000000000000110000000000001000000000001000000000000000000000000000000100000000000100000100', 12);
INSERT INTO public.dbsim_fuzzy VALUES (8, 550433507067741792, 2541861038054, 2541861038045, B'00000001001000000000000000110010000000000000000000110000000000001000000000001000000000000000000000000000000100000000000100000100', 12);
INSERT INTO public.dbsim_fuzzy VALUES (9, 240646162770646928, 2541861038054, 2541861038045, B'00000001001000000000000000110000000000000000000000110000000000001000100000001000000000000000000000000000000100000000000100000100', 12);
INSERT INTO public.dbsim_fuzzy VALUES (10, 457964609761012341, 2541865827485, 2541865827485, B'00000000000001000000000000000000000000000001001000001000010000000000000000000000000000001000000001000010000110010000001000000000', 12);
INSERT INTO public.dbsim_fuzzy VALUES (11, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.dbsim_fuzzy_queue VALUES (20, '2026-11-17 21:25:37.32703+00');
INSERT INTO public.dbsim_fuzzy_queue VALUES (10, '2026-11-17 21:25:37.32703+00');
INSERT INTO public.dbsim_fuzzy_queue VALUES (9, '2026-11-17 21:25:37.32703+00');
INSERT INTO public.dbsim_index VALUES ('articles', 'public', 'articles', '[["id", "integer"]]', '{"family": "minhash@1", "fields": [{"bits": 128, "columns": ["body"], "false_drops": 0.05, "normaliser": "text", "sample": 1, "size": 2, "unit": "words", "weight": 1.0, "word_bits": 128, "word_marks": 7}], "keys": 3, "name": "articles", "recall": 0.95, "rows": 1, "schema": "public", "table": "articles", "threshold": 0.6, "triggers": true}', 'minhash@1', '30313233343536373839616263646566', '15.1.0', 1, 'ready', '67bea1e610f6417cae71171cbce9cde3', NULL, false);
INSERT INTO public.dbsim_index VALUES ('fuzzy', 'public', 'articles', '[["id", "integer"]]', '{"family": "fuzzy@1", "fields": [{"bits": 128, "columns": ["body"], "normaliser": "text", "sample": 1, "size": 2, "unit": "words", "weight": 1.0}], "keys": 2, "name": "fuzzy", "recall": 0.95, "rows": 26, "schema": "public", "table": "articles", "threshold": 0.9, "triggers": true}', 'fuzzy@1', '30313233343536373839616263646566', '15.1.0', 1, 'ready', 'f7411fbdb49c43deb352a094a5d01b39', NULL, false);
INSERT INTO public.dbsim_index VALUES ('learned', 'public', 'articles', '[["id", "integer"]]', '{"family": "spectral@1", "fields": [{"bits": 128, "columns": ["body"], "normaliser": "text", "sample": 1, "size": 2, "unit": "words", "weight": 1.0}], "keys": 2, "name": "learned", "recall": 0.95, "rows": 16, "schema": "public", "table": "articles", "threshold": 0.9, "triggers": true}', 'spectral@1', '30313233343536373839616263646566', '15.1.0', 1, 'ready', 'af4658e214334436879211ef8d32f6bf', NULL, false);
INSERT INTO public.dbsim_index VALUES ('weighted', 'public', 'notes', '[["part", "text"], ["number", "integer"]]', '{"family": "minhash@1", "fields": [{"bits": 128, "columns": ["title"], "normaliser": "text", "sample": 1, "size": 2, "unit": "words", "weight": 1}, {"bits": 128, "columns": ["body"], "normaliser": "text", "sample": 1, "size": 2, "unit": "words", "weight": 3}], "inline": true, "keys": 3, "name": "weighted", "recall": 0.95, "rows": 1, "schema": "public", "table": "notes", "threshold": 0.6, "triggers": true}', 'minhash@1', '30313233343536373839616263646566', '15.1.0', 1, 'ready', 'dbacc49bda61485bac033d7f4965474c', NULL, false);
INSERT INTO public.dbsim_learned VALUES (1, 418710733580129929, 65261, 56799, B'01000000010000000000000001000000001000010000000000000000000000000000101100000000000001100001000000000000001000000000000000000000', 12);
INSERT INTO public.dbsim_learned VALUES (2, 418710733580129929, 65261, 56799, B'01000000010000000000000001000000001000010000000000000000000000000000101100000000000001100001000000000000001000000000000000000000', 12);
INSERT INTO public.dbsim_learned VALUES (3, 389414299896027367, 65196, 52735, B'01000000010000000000000001100000001000010000000000000000000000000000101100000000000001100001000000000000001000000000000000000000', 13);
INSERT INTO public.dbsim_learned VALUES (4, 271043700978469914, 11992, 59829, B'00000000000000000000000000100000000000000000000000100010000000000000010001001000001000000000000100100000010000000010000000100100', 13);
INSERT INTO public.dbsim_learned VALUES (5, 271043700978469914, 11992, 59829, B'00000000000000000000000000100000000000000000000000100010000000000000010001001000001000000000000100100000010000000010000000100100', 13);
INSERT INTO public.dbsim_learned VALUES (6, 218581138689914027, 11928, 64951, B'00000000000000000000000000100000000000000000000000100010000000000000010001001000001000000000000100100000010010000010000000000100', 13);
INSERT INTO public.dbsim_learned VALUES (7, 550433507067741792, 32250, 58219, B'00000001001000000000000000110010000000000000000000110000000000001000000000001000000000000000000000000000000100000000000100000100', 12);
INSERT INTO public.dbsim_learned VALUES (8, 550433507067741792, 32250, 58219, B'00000001001000000000000000110010000000000000000000110000000000001000000000001000000000000000000000000000000100000000000100000100', 12);
INSERT INTO public.dbsim_learned VALUES (9, 240646162770646928, 32187, 60399, B'00000001001000000000000000110000000000000000000000110000000000001000100000001000000000000000000000000000000100000000000100000100', 12);
INSERT INTO public.dbsim_learned VALUES (10, 457964609761012341, 50302, 2172, B'00000000000001000000000000000000000000000001001000001000010000000000000000000000000000001000000001000010000110010000001000000000', 12);
INSERT INTO public.dbsim_learned VALUES (11, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.dbsim_learned_queue VALUES (20, '2026-11-17 21:25:37.32703+00');
INSERT INTO public.dbsim_learned_queue VALUES (10, '2026-11-17 21:25:37.32703+00');
INSERT INTO public.dbsim_learned_queue VALUES (9, '2026-11-17 21:25:37.32703+00');
INSERT INTO public.dbsim_model VALUES ('fuzzy', 1, 'terms', '<i8', '[31]', '\x8c29ce2fb0d82a0249b20e3f5f283103e2f8f44293590f052721a4e42c22660523d866cc733aff07f89be66f40cb2b09833e056fd1792d0b7ed5dd5ba18ca80b990ead6b1869180d563ec2a9db34580d6050b14b44b7810f7382ba51834f1d14f8c45ce7788e7a1419d33cdcaba18b14f1aebaea9fe4161b0fce59a60eeaf11b10566b12f5fa841f83e1aa91e0d63020491b349b59111c26be6c67831cdb3e28dca84ca6ed54e92a32ef666d904cd82c510051a6d150163089a697e8467d28306ce9d1d671d66e38cf19b0de7e999b39771c243abcf8cc396e60662b8c89283bc81c3959dbfc343be9b89e6654f2903c7e28a53f3ae7bc3e', 11, 'every n-th row in key order', 'fuzzy@1');
INSERT INTO public.dbsim_model VALUES ('fuzzy', 1, 'frequencies', '<i4', '[31]', '\x03000000030000000300000006000000070000000600000003000000030000000300000003000000030000000400000003000000030000000300000003000000030000000300000004000000030000000300000006000000070000000300000006000000060000000400000003000000040000000300000006000000', 11, 'every n-th row in key order', 'fuzzy@1');
INSERT INTO public.dbsim_model VALUES ('fuzzy', 1, 'documents', '<i8', '[1]', '\x0a00000000000000', 11, 'every n-th row in key order', 'fuzzy@1');
INSERT INTO public.dbsim_model VALUES ('fuzzy', 1, 'classes', '<i4', '[729]', '\xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0c0000000c000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff05000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff06000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0d000000ffffffffffffffffffffffff0e000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0700000009000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0f000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff10000000ffffffffffffffffffffffff11000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff12000000ffffffffffffffffffffffffffffffff13000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff09000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff03000000ffffffffffffffffffffffff02000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff14000000ffffffffffffffffffffffff08000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0a000000ffffffff15000000ffffffffffffffffffffffffffffffff16000000ffffffffffffffffffffffffffffffffffffffffffffffff17000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff18000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff01000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff19000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0d000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0e000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0f000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffff10000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0b000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff04000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff', 11, 'every n-th row in key order', 'fuzzy@1');
INSERT INTO public.dbsim_model VALUES ('fuzzy', 1, 'masses', '<f8', '[26]', '\xdab66ddbb66dbb3f912449922449b23f1bd4411dd441ad3f989999999999a93f989999999999a93f155ff1155ff1a53f155ff1155ff1a53f155ff1155ff1a53f155ff1155ff1a53f922449922449a23f1dd4411dd4419d3f1dd4411dd4419d3f922449922449a23f165ff1155ff1a53f165ff1155ff1a53f165ff1155ff1a53f165ff1155ff1a53f165ff1155ff1953f165ff1155ff1953f165ff1155ff1953f165ff1155ff1953f165ff1155ff1953f165ff1155ff1953f165ff1155ff1953f165ff1155ff1953f165ff1155ff1953f', 11, 'every n-th row in key order', 'fuzzy@1');
INSERT INTO public.dbsim_model VALUES ('learned', 1, 'terms', '<i8', '[31]', '\x8c29ce2fb0d82a0249b20e3f5f283103e2f8f44293590f052721a4e42c22660523d866cc733aff07f89be66f40cb2b09833e056fd1792d0b7ed5dd5ba18ca80b990ead6b1869180d563ec2a9db34580d6050b14b44b7810f7382ba51834f1d14f8c45ce7788e7a1419d33cdcaba18b14f1aebaea9fe4161b0fce59a60eeaf11b10566b12f5fa841f83e1aa91e0d63020491b349b59111c26be6c67831cdb3e28dca84ca6ed54e92a32ef666d904cd82c510051a6d150163089a697e8467d28306ce9d1d671d66e38cf19b0de7e999b39771c243abcf8cc396e60662b8c89283bc81c3959dbfc343be9b89e6654f2903c7e28a53f3ae7bc3e', 11, 'every n-th row in key order', 'spectral@1');
INSERT INTO public.dbsim_model VALUES ('learned', 1, 'frequencies', '<i4', '[31]', '\x03000000030000000300000006000000070000000600000003000000030000000300000003000000030000000400000003000000030000000300000003000000030000000300000004000000030000000300000006000000070000000300000006000000060000000400000003000000040000000300000006000000', 11, 'every n-th row in key order', 'spectral@1');
INSERT INTO public.dbsim_model VALUES ('learned', 1, 'documents', '<i8', '[1]', '\x0a00000000000000', 11, 'every n-th row in key order', 'spectral@1');
INSERT INTO public.dbsim_model VALUES ('learned', 1, 'vocabulary', '<i8', '[34]', '\x8c29ce2fb0d82a0249b20e3f5f283103a92690a82522f004e2f8f44293590f052721a4e42c22660523d866cc733aff07f89be66f40cb2b09833e056fd1792d0b7ed5dd5ba18ca80b990ead6b1869180d563ec2a9db34580d6050b14b44b7810f7382ba51834f1d14f8c45ce7788e7a1419d33cdcaba18b14cc5e87e7663e7819f1aebaea9fe4161b0fce59a60eeaf11b2f2042061061f41b10566b12f5fa841f83e1aa91e0d63020491b349b59111c26be6c67831cdb3e28dca84ca6ed54e92a32ef666d904cd82c510051a6d150163089a697e8467d28306ce9d1d671d66e38cf19b0de7e999b39771c243abcf8cc396e60662b8c89283bc81c3959dbfc343be9b89e6654f2903c7e28a53f3ae7bc3e', 11, 'every n-th row in key order', 'spectral@1');
INSERT INTO public.dbsim_model VALUES ('learned', 1, 'normals', '<i4', '[34, 6]', '\x38e0d8ff57ef2f0028bff3ffced30300526bfcffb3aefeffae9ce7ff570fbeff1e0de4fff0d7f7ffdc3a0600f0300700b12605004236fbffffb8720062810c00d92df0ffe46a0f00ae9ce7ff570fbeff1e0de4fff0d7f7ffdc3a0600f0300700ce1d1a002e7ad9ff6bbbd7fff442f7ffc96908006106f3ff5af818005fdadbff8965f7fff41cfbff92c80300d3f9f7ff4fa92c00fa3f3200d3e0d5ff6183c8ff7122cfff6413b000ee913c00f5910c003a29e4ffd40cfcff066d05003ed5e6ff38e0d8ff57ef2f0028bff3ffced30300526bfcffb3aefeff38e0d8ff57ef2f0028bff3ffced30300526bfcffb3aefeff3962e7ffe4d31e0045702500585bbfff42c0d5006a9fd4ffee913c00f5910c003a29e4ffd40cfcff066d05003ed5e6ffbf676d00bdc41400636df4ff6b1cfdffd86a0400c058d8ff8f560000c75dfdff927ce4fffdbce600ec181500f8ebefffae9ce7ff570fbeff1e0de4fff0d7f7ffdc3a0600f030070058930200219bfdff805c3900b1400600ec16f8ff72b50700ae9ce7ff570fbeff1e0de4fff0d7f7ffdc3a0600f0300700ae9ce7ff570fbeff1e0de4fff0d7f7ffdc3a0600f030070009ba070062d1f8ff7f15ac0012c21200c544e8ff5620170038e0d8ff57ef2f0028bff3ffced30300526bfcffb3aefeff38e0d8ff57ef2f0028bff3ffced30300526bfcffb3aefeffdd8d3700bf970900992d0d006b9f0000e797ffffd3b8eeff71c0b1ffafde5f00507ee7ff9ca70700a3d6f8ff665dfdffae9ce7ff570fbeff1e0de4fff0d7f7ffdc3a0600f030070084bed8ffc12d0100fca509009002c3ffe76e83ff4d1f61ff5af818005fdadbff8965f7fff41cfbff92c80300d3f9f7ffee913c00f5910c003a29e4ffd40cfcff066d05003ed5e6ffd37a0f0044ac2b00a90fe3ff5ce9fffff05401001de2ecffa4eab5ff7e9a15002e23daff48a3ffffd953ffffde4903003805ecffa2cac3ff9d140d00fce1fcffe84e0000a07d0b00ee913c00f5910c003a29e4ffd40cfcff066d05003ed5e6ff3805ecffa2cac3ff9d140d00fce1fcffe84e0000a07d0b00ee913c00f5910c003a29e4ffd40cfcff066d05003ed5e6ff1628d2fff800f3ff60fbe2ff0de0fcff83e90100553d0400', 11, 'every n-th row in key order', 'spectral@1');
INSERT INTO public.dbsim_model VALUES ('learned', 1, 'lows', '<f8', '[6]', '\x0ba006cc2aa9e0bff22e2489affee5bfec8393fa59a3d3bf88edbc519687c1bf0c793bb9e1ecc1bf22dd48ea7b19c3bf', 11, 'every n-th row in key order', 'spectral@1');
INSERT INTO public.dbsim_model VALUES ('learned', 1, 'widths', '<f8', '[6]', '\x9cf42ce6cb0af43fb9462ba4b32cf43f56336ae2b5b5f13faac0343aa2e6d43fa40f4998c89ecc3fa642a9c4d914c83f', 11, 'every n-th row in key order', 'spectral@1');
INSERT INTO public.dbsim_model VALUES ('learned', 1, 'modes', '<i4', '[2, 32]', '\x01000000000000000200000001000000000000000200000001000000000000000200000003000000010000000000000002000000010000000000000004000000020000000100000000000000050000000200000001000000000000000300000002000000010000000000000001000000000000000200000001000000000000000100000001000000010000000200000002000000020000000300000003000000030000000100000004000000040000000400000005000000050000000100000005000000060000000600000001000000060000000700000007000000020000000700000008000000080000000900000009000000080000000a0000000a000000', 11, 'every n-th row in key order', 'spectral@1');
INSERT INTO public.dbsim_version VALUES ('0002');
INSERT INTO public.dbsim_weighted VALUES ('a', 1, 270073080084559690, 269380351613776298, 2806428748301509805, 4013180483356456486, B'00000000010000000000000000000000000000000000000000000000000000000000000100000000000001100000000000000000000000000000000000000000', 4, B'01000000010000000000000001000000001000010000000000000000000000000000101100000000000001100001000000000000001000000000000000000000', 12);
INSERT INTO public.dbsim_weighted VALUES ('a', 2, 270073080084559690, 269380351613776298, 2806428748301509805, 4013180483356456486, B'00000000010000000000000000000000000000000000000000000000000000000000000100000000000001100000000000000000000000000000000000000000', 4, B'01000000010000000000000001000000001000010000000000000000000000000000101100000000000001100001000000000000001000000000000000000000', 12);
INSERT INTO public.dbsim_weighted VALUES ('a', 3, 240776646400457128, 269380351613776298, 2806428748301509805, 4013180483356456486, B'00000000010000000000000000000000000000000000000000000000000000000000000100000000000001100000000000000000000000000000000000000000', 4, B'01000000010000000000000001100000001000010000000000000000000000000000101100000000000001100001000000000000001000000000000000000000', 13);
INSERT INTO public.dbsim_weighted VALUES ('b', 4, 453387464048348018, 260311166240868736, 1809736769894834684, 3517994952648459943, B'00000000000000000000000000000000000000000000000000100000000000000000000000000000001000000000000100000000010000000000000000000000', 4, B'00000000000000000000000000100000000000000000000000100010000000000000010001001000001000000000000100100000010000000010000000100100', 13);
INSERT INTO public.dbsim_weighted VALUES ('b', 5, 453387464048348018, 260311166240868736, 1809736769894834684, 3517994952648459943, B'00000000000000000000000000000000000000000000000000100000000000000000000000000000001000000000000100000000010000000000000000000000', 4, B'00000000000000000000000000100000000000000000000000100010000000000000010001001000001000000000000100100000010000000010000000100100', 13);
INSERT INTO public.dbsim_weighted VALUES ('b', 7, 400924901759792131, 260311166240868736, 1941144547614112852, 3517994952648459943, B'00000000000000000000000000000000000000000000000000100000000000000000000000000000001000000000000100000000010000000000000000000000', 4, B'00000000000000000000000000100000000000000000000000100010000000000000010001001000001000000000000100100000010010000010000000000100', 13);
INSERT INTO public.dbsim_weighted_changes VALUES (-1, 400924901759792131, 260311166240868736, 1941144547614112852, 3517994952648459943);
INSERT INTO public.dbsim_weighted_changes VALUES (1, 400924901759792131, 260311166240868736, 1941144547614112852, 3517994952648459943);
INSERT INTO public.dbsim_weighted_contents VALUES (1, 270073080084559690, 270073080084559690, 1, 0.06063172216182189, 'a', 1);
INSERT INTO public.dbsim_weighted_contents VALUES (1, 240776646400457128, 270073080084559690, 0.9393682778381781, 0.06063172216182189, 'a', 1);
INSERT INTO public.dbsim_weighted_contents VALUES (1, 453387464048348018, 453387464048348018, 1, 0.11309952740401275, 'b', 4);
INSERT INTO public.dbsim_weighted_contents VALUES (1, 400924901759792131, 453387464048348018, 0.8869004725959873, 0.11309952740401275, 'b', 4);
INSERT INTO public.dbsim_weighted_edges VALUES (240776646400457128, 270073080084559690, 0.9393682778381781);
INSERT INTO public.dbsim_weighted_edges VALUES (400924901759792131, 453387464048348018, 0.8869004725959873);
INSERT INTO public.dbsim_weighted_grouping VALUES (1, '8e2c0e441b6c9b57', 6, '{"limits": {"bucket": 400, "depth": 3, "representatives": 16}, "threshold": 0.6, "verify": false}', 453387464048348018, true, true, 1, '{"by": "tight", "threshold": 0.6}', '{"buckets": 0, "contents": 0, "largest": 0}');
INSERT INTO public.notes VALUES ('a', 1, 'napkin dagger yarrow meadow nectar', 'napkin dagger yarrow meadow nectar brook delta amber heath lantern engine rocket willow canvas');
INSERT INTO public.notes VALUES ('a', 2, 'NAPKIN DAGGER YARROW MEADOW NECTAR', 'NAPKIN DAGGER YARROW MEADOW NECTAR BROOK DELTA AMBER HEATH LANTERN ENGINE ROCKET WILLOW CANVAS!');
INSERT INTO public.notes VALUES ('a', 3, 'napkin dagger yarrow meadow nectar', 'napkin dagger yarrow meadow nectar brook delta amber heath lantern engine rocket willow other');
INSERT INTO public.notes VALUES ('b', 4, 'valley yarrow insect salmon brook', 'valley yarrow insect salmon brook grove mirror salmon lagoon orchard oyster thicket meadow mirror');
INSERT INTO public.notes VALUES ('b', 5, 'VALLEY YARROW INSECT SALMON BROOK', 'VALLEY YARROW INSECT SALMON BROOK GROVE MIRROR SALMON LAGOON ORCHARD OYSTER THICKET MEADOW MIRROR!');
INSERT INTO public.notes VALUES ('b', 7, 'valley yarrow insect salmon brook', 'valley yarrow insect salmon brook grove mirror salmon lagoon orchard oyster thicket meadow other');
SELECT pg_catalog.setval('public.dbsim_document_id_seq', 1, false);
ALTER TABLE ONLY public.articles
    ADD CONSTRAINT articles_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.dbsim_articles_contents
    ADD CONSTRAINT dbsim_articles_contents_pkey PRIMARY KEY (generation, fingerprint);
ALTER TABLE ONLY public.dbsim_articles_edges
    ADD CONSTRAINT dbsim_articles_edges_pkey PRIMARY KEY (a, b);
ALTER TABLE ONLY public.dbsim_articles_grouping
    ADD CONSTRAINT dbsim_articles_grouping_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.dbsim_articles
    ADD CONSTRAINT dbsim_articles_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.dbsim_cardinality
    ADD CONSTRAINT dbsim_cardinality_pkey PRIMARY KEY (bits, count);
ALTER TABLE ONLY public.dbsim_constant
    ADD CONSTRAINT dbsim_constant_pkey PRIMARY KEY (index_name, name);
ALTER TABLE ONLY public.dbsim_document
    ADD CONSTRAINT dbsim_document_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.dbsim_donor
    ADD CONSTRAINT dbsim_donor_pkey PRIMARY KEY (positions, part);
ALTER TABLE ONLY public.dbsim_fuzzy
    ADD CONSTRAINT dbsim_fuzzy_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.dbsim_generation
    ADD CONSTRAINT dbsim_generation_pkey PRIMARY KEY (index_name, generation);
ALTER TABLE ONLY public.dbsim_index
    ADD CONSTRAINT dbsim_index_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.dbsim_learned
    ADD CONSTRAINT dbsim_learned_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.dbsim_model
    ADD CONSTRAINT dbsim_model_pkey PRIMARY KEY (index_name, generation, name);
ALTER TABLE ONLY public.dbsim_quarantine
    ADD CONSTRAINT dbsim_quarantine_pkey PRIMARY KEY (index_name, generation, source_key);
ALTER TABLE ONLY public.dbsim_unicode
    ADD CONSTRAINT dbsim_unicode_pkey PRIMARY KEY (profile, first);
ALTER TABLE ONLY public.dbsim_version
    ADD CONSTRAINT dbsim_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.dbsim_weighted_contents
    ADD CONSTRAINT dbsim_weighted_contents_pkey PRIMARY KEY (generation, fingerprint);
ALTER TABLE ONLY public.dbsim_weighted_edges
    ADD CONSTRAINT dbsim_weighted_edges_pkey PRIMARY KEY (a, b);
ALTER TABLE ONLY public.dbsim_weighted_grouping
    ADD CONSTRAINT dbsim_weighted_grouping_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.dbsim_weighted
    ADD CONSTRAINT dbsim_weighted_pkey PRIMARY KEY (part, number);
ALTER TABLE ONLY public.notes
    ADD CONSTRAINT notes_pkey PRIMARY KEY (part, number);
CREATE INDEX dbsim_articles_contents_group ON public.dbsim_articles_contents USING btree (generation, group_id);
CREATE INDEX dbsim_articles_edges_b ON public.dbsim_articles_edges USING btree (b);
CREATE INDEX dbsim_articles_fingerprint ON public.dbsim_articles USING btree (fingerprint);
CREATE INDEX dbsim_articles_k0 ON public.dbsim_articles USING btree (k0);
CREATE INDEX dbsim_articles_k1 ON public.dbsim_articles USING btree (k1);
CREATE INDEX dbsim_articles_k2 ON public.dbsim_articles USING btree (k2);
CREATE INDEX dbsim_articles_words ON public.dbsim_articles USING btree (body_w0, body_w1, id);
CREATE INDEX dbsim_fuzzy_fingerprint ON public.dbsim_fuzzy USING btree (fingerprint);
CREATE INDEX dbsim_fuzzy_k0 ON public.dbsim_fuzzy USING btree (k0);
CREATE INDEX dbsim_fuzzy_k1 ON public.dbsim_fuzzy USING btree (k1);
CREATE INDEX dbsim_learned_fingerprint ON public.dbsim_learned USING btree (fingerprint);
CREATE INDEX dbsim_learned_k0 ON public.dbsim_learned USING btree (k0);
CREATE INDEX dbsim_learned_k1 ON public.dbsim_learned USING btree (k1);
CREATE INDEX dbsim_weighted_contents_group ON public.dbsim_weighted_contents USING btree (generation, group_id);
CREATE INDEX dbsim_weighted_edges_b ON public.dbsim_weighted_edges USING btree (b);
CREATE INDEX dbsim_weighted_fingerprint ON public.dbsim_weighted USING btree (fingerprint);
CREATE INDEX dbsim_weighted_k0 ON public.dbsim_weighted USING btree (k0);
CREATE INDEX dbsim_weighted_k1 ON public.dbsim_weighted USING btree (k1);
CREATE INDEX dbsim_weighted_k2 ON public.dbsim_weighted USING btree (k2);
CREATE TRIGGER dbsim_articles_delete AFTER DELETE ON public.articles REFERENCING OLD TABLE AS dbsim_old FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_articles_changed();
CREATE TRIGGER dbsim_articles_insert AFTER INSERT ON public.articles REFERENCING NEW TABLE AS dbsim_new FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_articles_changed();
CREATE TRIGGER dbsim_articles_truncate AFTER TRUNCATE ON public.articles FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_articles_changed();
CREATE TRIGGER dbsim_articles_update AFTER UPDATE ON public.articles REFERENCING OLD TABLE AS dbsim_old NEW TABLE AS dbsim_new FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_articles_changed();
CREATE TRIGGER dbsim_fuzzy_delete AFTER DELETE ON public.articles REFERENCING OLD TABLE AS dbsim_old FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_fuzzy_changed();
CREATE TRIGGER dbsim_fuzzy_insert AFTER INSERT ON public.articles REFERENCING NEW TABLE AS dbsim_new FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_fuzzy_changed();
CREATE TRIGGER dbsim_fuzzy_truncate AFTER TRUNCATE ON public.articles FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_fuzzy_changed();
CREATE TRIGGER dbsim_fuzzy_update AFTER UPDATE ON public.articles REFERENCING OLD TABLE AS dbsim_old NEW TABLE AS dbsim_new FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_fuzzy_changed();
CREATE TRIGGER dbsim_learned_delete AFTER DELETE ON public.articles REFERENCING OLD TABLE AS dbsim_old FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_learned_changed();
CREATE TRIGGER dbsim_learned_insert AFTER INSERT ON public.articles REFERENCING NEW TABLE AS dbsim_new FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_learned_changed();
CREATE TRIGGER dbsim_learned_truncate AFTER TRUNCATE ON public.articles FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_learned_changed();
CREATE TRIGGER dbsim_learned_update AFTER UPDATE ON public.articles REFERENCING OLD TABLE AS dbsim_old NEW TABLE AS dbsim_new FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_learned_changed();
CREATE TRIGGER dbsim_weighted_delete AFTER DELETE ON public.notes REFERENCING OLD TABLE AS dbsim_old FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_weighted_changed();
CREATE TRIGGER dbsim_weighted_insert AFTER INSERT ON public.notes REFERENCING NEW TABLE AS dbsim_new FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_weighted_changed();
CREATE TRIGGER dbsim_weighted_truncate AFTER TRUNCATE ON public.notes FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_weighted_changed();
CREATE TRIGGER dbsim_weighted_update AFTER UPDATE ON public.notes REFERENCING OLD TABLE AS dbsim_old NEW TABLE AS dbsim_new FOR EACH STATEMENT EXECUTE FUNCTION public.dbsim_weighted_changed();
REVOKE ALL ON FUNCTION public.dbsim_among(these text[], others text[], wanted boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_analyse(given text, profile text, words boolean, size integer, bits integer, sample integer, secret bytea) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_articles_changed() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_articles_explain(integer, integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_articles_grant(role regrole) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_articles_sees(integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_articles_near(dbsim_question public.dbsim_articles_signatures, threshold double precision, hits integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_articles_search(text, threshold double precision, hits integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_articles_sign(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_articles_similar(integer, threshold double precision, hits integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_band(signature bigint[], size integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_bits(features bigint[], size integer, sample integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_bitsampling_1_keys(fields public.dbsim_field[], size integer, keys integer, asked_index text) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_code_point(letter text) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_combine(hashes bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_features(given bigint[], size integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_fingerprint(fields public.dbsim_field[], primes bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_fold(given text, asked text) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_fuzzy_1_keys(fields public.dbsim_field[], size integer, keys integer, asked_index text) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_fuzzy_changed() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_fuzzy_sees(integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_learned_changed() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_learned_sees(integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_letter(code integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_letters(folded text, padding integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_minhash_1(features bigint[], positions integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_minhash_1_keys(fields public.dbsim_field[], size integer, keys integer, asked_index text) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_mixture(signatures bigint[], positions integer, asked_index text) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_normalise(given text, profile text) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_rabin_minhash_1_keys(fields public.dbsim_field[], size integer, keys integer, asked_index text) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_shingles(given text, profile text, words boolean, size integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_tokens(tokens text[], secret bytea) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_weighted_changed() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_weighted_explain(text, integer, text, integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_weighted_grant(role regrole) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_weighted_sees(text, integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_weighted_near(dbsim_question public.dbsim_weighted_signatures, threshold double precision, hits integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_weighted_search(title text, body text, threshold double precision, hits integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_weighted_sign(text, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION public.dbsim_weighted_similar(text, integer, threshold double precision, hits integer) FROM PUBLIC;
