-- dbsim.hashing.records.packing and probability: the least of four sums in one number; only steps that every machine
-- rounds alike.
CREATE OR REPLACE FUNCTION {home}.dbsim_probability(evidence bigint) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    low bigint := ((evidence + 32768) & 65535) - 32768;
    smallest bigint := low;
    rest bigint := (evidence - low) >> 16;
    size bigint;
    x float8;
    value float8 := 0.0;
    coefficient float8;
BEGIN
    FOR lane IN 1..2 LOOP
        low := ((rest + 32768) & 65535) - 32768;
        IF low < smallest THEN
            smallest := low;
        END IF;
        rest := (rest - low) >> 16;
    END LOOP;
    IF rest < smallest THEN
        smallest := rest;
    END IF;
    size := least(abs(smallest), {most_evidence});
    x := (size % {unit})::float8 / {unit}::float8;
    FOREACH coefficient IN ARRAY {coefficients} LOOP
        value := value * x + coefficient;
    END LOOP;
    value := (1::bigint << (size / {unit})::integer)::float8 * value;
    value := 1.0::float8 / (1.0::float8 + value);
    RETURN CASE WHEN smallest < 0 THEN value ELSE 1.0::float8 - value END;
END
$dbsim$
