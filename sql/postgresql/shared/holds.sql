-- dbsim.search.words.Question.answers: whether a row with these texts, one a field, has all that is wanted and nothing
-- unwanted. Both are terms x fields, each term as the field's normaliser spells it.
CREATE OR REPLACE FUNCTION {home}.dbsim_holds(texts text[], profiles text[], wanted text[], unwanted text[]) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    folded text[] COLLATE "C";
    lowered text COLLATE "C";
    found boolean;
BEGIN
    -- as dbsim.text.normalisers.mapped.Mapped.lacks: most of what passes are long texts without the word
    IF cardinality(profiles) = 1 AND profiles[1] ~ '^(text|german)(@1)?$'
        AND octet_length(convert_to(texts[1], 'UTF8')) = length(texts[1]) THEN
        lowered := lower(texts[1] COLLATE "C");
        FOR term IN 1 .. coalesce(array_length(wanted, 1), 0) LOOP
            IF split_part(wanted[term][1], ' ', 1) ~ '^[a-z0-9]+$'
                AND strpos(lowered COLLATE "C", split_part(wanted[term][1], ' ', 1)) = 0 THEN
                RETURN false;
            END IF;
        END LOOP;
    END IF;
    FOR field IN 1 .. cardinality(profiles) LOOP
        folded[field] := ' ' || {home}.dbsim_normalise(coalesce(texts[field], ''), profiles[field]) || ' ';
    END LOOP;
    FOR term IN 1 .. coalesce(array_length(wanted, 1), 0) LOOP
        found := false;
        FOR field IN 1 .. cardinality(profiles) LOOP
            -- whole words: a folded text has a space at both ends, and a term without words is nowhere
            found := found OR wanted[term][field] COLLATE "C" <> ''
                AND strpos(folded[field] COLLATE "C", ' ' || wanted[term][field] || ' ') > 0;
        END LOOP;
        IF NOT found THEN
            RETURN false;
        END IF;
    END LOOP;
    FOR term IN 1 .. coalesce(array_length(unwanted, 1), 0) LOOP
        FOR field IN 1 .. cardinality(profiles) LOOP
            IF unwanted[term][field] COLLATE "C" <> ''
                AND strpos(folded[field] COLLATE "C", ' ' || unwanted[term][field] || ' ') > 0 THEN
                RETURN false;
            END IF;
        END LOOP;
    END LOOP;
    RETURN true;
END
$dbsim$
