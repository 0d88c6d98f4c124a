-- Why two rows are, or are not, near-duplicates: a line for each field and one for the whole (field is NULL).
-- estimate comes from the stored filters, exact from the shingles of the texts as they are now.
CREATE FUNCTION {explain}({two_keys})
RETURNS TABLE (field text, weight double precision, estimate double precision, exact double precision,
               shared_keys integer, shared text[], only_a text[], only_b text[])
LANGUAGE plpgsql STABLE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS {body}
#variable_conflict use_column
DECLARE
    a {signatures_view};
    b {signatures_view};
    texts_a text[];
    texts_b text[];
    in_common integer;
    total double precision := 0;
    weights double precision := 0;
    shingles_a text[];
    shingles_b text[];
    part record;
BEGIN
    SELECT s.* INTO a FROM {signatures_view} AS s WHERE {s_is_a};
    SELECT s.* INTO b FROM {signatures_view} AS s WHERE {s_is_b};
    SELECT ARRAY[{source_texts}] INTO texts_a FROM {source} AS dbsim_source WHERE {source_is_a};
    SELECT ARRAY[{source_texts}] INTO texts_b FROM {source} AS dbsim_source WHERE {source_is_b};
    IF texts_a IS NULL OR texts_b IS NULL THEN
        RETURN;
    END IF;
    in_common := {shared_keys_or_zero};
    FOR part IN SELECT * FROM (VALUES {field_values}) AS f (number, name, weight, estimate, profile, words, size) LOOP
        shingles_a := {home}.dbsim_shingles(texts_a[part.number], part.profile, part.words, part.size);
        shingles_b := {home}.dbsim_shingles(texts_b[part.number], part.profile, part.words, part.size);
        field := part.name;
        weight := part.weight;
        estimate := part.estimate;
        shared_keys := in_common;
        shared := {home}.dbsim_among(shingles_a, shingles_b, true);
        only_a := {home}.dbsim_among(shingles_a, shingles_b, false);
        only_b := {home}.dbsim_among(shingles_b, shingles_a, false);
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
    estimate := {score};
    exact := total / nullif(weights, 0);
    shared := NULL;
    only_a := NULL;
    only_b := NULL;
    RETURN NEXT;
END
{body}
