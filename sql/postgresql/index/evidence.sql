-- What speaks for and against two records being one person, field by field, as dbsim.hashing.records.waterfall says it.
CREATE FUNCTION {evidence}(a {signatures_view}, b {signatures_view}) RETURNS jsonb
LANGUAGE plpgsql STABLE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS {body}
DECLARE
    levels integer[] := ARRAY[{levels}];
    rare bigint[] := ARRAY[{rare_values}];
    weights bigint[] := {weights};  -- against strangers, then three kinds of relatives; by field and level
    priors bigint[] := {priors};
    sums bigint[];
    against integer := 1;
    shown jsonb[] := '{}';
    names text[] := {field_names};
    words text[] := {agreements};
    added bigint;
    place bigint := 0;  -- what the parts of an address say against strangers
    elsewhere bigint[] := array_fill(0::bigint, ARRAY[{against_count}]);  -- what a person who has moved is spared
BEGIN
    {crossing}
    sums := priors;
    FOR kind IN 1 .. {against_count} LOOP
        FOR field IN 1 .. cardinality(levels) LOOP
            added := CASE WHEN kind = 1 AND levels[field] = {equal} THEN rare[field] ELSE 0 END;
            added := added + weights[kind][field][levels[field] + 1];
            sums[kind] := sums[kind] + added;
            IF field = ANY ({place_fields}) THEN
                elsewhere[kind] := elsewhere[kind] - added;
            END IF;
        END LOOP;
        place := CASE WHEN kind = 1 THEN -elsewhere[1] ELSE place END;
        IF kind = 1 THEN
            elsewhere[1] := elsewhere[1] + {moved};
        END IF;
        IF place >= {moved} THEN
            elsewhere[kind] := 0;
        END IF;
        sums[kind] := sums[kind] + elsewhere[kind];
        IF sums[kind] < sums[against] THEN
            against := kind;
        END IF;
    END LOOP;
    FOR field IN 1 .. cardinality(levels) LOOP
        added := CASE WHEN against = 1 AND levels[field] = {equal} THEN rare[field] ELSE 0 END;
        shown := shown || jsonb_build_object('field', names[field], 'agreement', words[levels[field] + 1],
            'bits', (weights[against][field][levels[field] + 1] + added) / {unit}::float8, 'rare', added / {unit}::float8);
    END LOOP;
    IF elsewhere[against] <> 0 THEN
        shown := shown || jsonb_build_object('field', {moved_field}, 'agreement', {moved_words},
            'bits', elsewhere[against] / {unit}::float8, 'rare', 0.0::float8);
    END IF;
    RETURN jsonb_build_object('prior', priors[against] / {unit}::float8, 'fields', to_jsonb(shown),
        'bits', sums[against] / {unit}::float8, 'probability', {score_of_a_and_b},
        'against', CASE WHEN against = 1 THEN 'strangers' ELSE 'relatives' END);
END
{body}
