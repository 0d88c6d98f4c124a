-- The elements of `these` that are, or are not, among `others`, in their order.
CREATE OR REPLACE FUNCTION {home}.dbsim_among(these text[], others text[], wanted boolean) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    RETURN ARRAY(
        SELECT one.shingle FROM unnest(these) WITH ORDINALITY AS one (shingle, place)
        LEFT JOIN unnest(others) AS other ON other COLLATE "C" = one.shingle COLLATE "C"
        WHERE (other IS NOT NULL) = wanted ORDER BY one.place);
END
$dbsim$
