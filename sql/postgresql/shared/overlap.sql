-- The Jaccard similarity of two sets of shingles, neither of them empty.
CREATE OR REPLACE FUNCTION {home}.dbsim_overlap(a text[], b text[]) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
    SELECT count(*)::double precision / (cardinality(a) + cardinality(b) - count(*))
    FROM (SELECT unnest(a) COLLATE "C" INTERSECT SELECT unnest(b) COLLATE "C") AS common
$dbsim$
