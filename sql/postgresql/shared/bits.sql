-- dbsim.hashing.bloom.filters: one bit per feature; with sample > 1 only of features whose low bits are zero, and of
-- the smallest one. NULL without features.
CREATE OR REPLACE FUNCTION {home}.dbsim_bits(features bigint[], size integer, sample integer) RETURNS bit varying
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
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
$dbsim$
