-- dbsim.hashing.records.frequency: what equality with a value adds, by its exact atom; frequent values are kept in order.
CREATE OR REPLACE FUNCTION {home}.dbsim_rarity(exact bigint, asked_index text, asked_field text, other bigint) RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    known bigint[];
    added float8[];
    low integer := 1;
    high integer;
    middle integer;
BEGIN
    IF exact = 0 THEN
        RETURN 0;
    END IF;
    SELECT numbers, reals INTO known, added FROM {home}.dbsim_constant WHERE index_name = asked_index AND name = asked_field;
    high := coalesce(cardinality(known), 0);
    WHILE low <= high LOOP
        middle := (low + high) / 2;
        IF known[middle] = exact THEN
            RETURN added[middle]::bigint;
        ELSIF known[middle] < exact THEN
            low := middle + 1;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN other;
END
$dbsim$
