-- dbsim.hashing.records.probability: only steps that every machine rounds alike.
CREATE OR REPLACE FUNCTION {home}.dbsim_probability(evidence bigint) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    size bigint := least(abs(evidence), {most_evidence});
    x float8 := (size % {unit})::float8 / {unit}::float8;
    value float8 := 0.0;
    coefficient float8;
BEGIN
    FOREACH coefficient IN ARRAY {coefficients} LOOP
        value := value * x + coefficient;
    END LOOP;
    value := (1::bigint << (size / {unit})::integer)::float8 * value;
    value := 1.0::float8 / (1.0::float8 + value);
    RETURN CASE WHEN evidence < 0 THEN value ELSE 1.0::float8 - value END;
END
$dbsim$
