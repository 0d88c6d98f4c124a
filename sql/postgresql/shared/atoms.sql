-- dbsim.hashing.records.atoms: of one field its loose, close and exact atom (0 where it is missing), then its smallest
-- feature by the upper and by the lower lane and the sum of all. Of both names together, whichever is which. A compound
-- key (dbsim.hashing.records.scheme); where an atom is missing it is one of this row and its copies.
CREATE OR REPLACE FUNCTION {home}.dbsim_atoms_of(smallest bigint, turned bigint, total bigint) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    IF total = 0 THEN
        RETURN ARRAY[0, 0, 0, smallest, turned, 0]::bigint[];
    END IF;
    RETURN ARRAY[
        greatest({home}.dbsim_combine(ARRAY[smallest, 1::bigint]), 1),
        greatest({home}.dbsim_combine(ARRAY[smallest, turned]), 1),
        greatest({home}.dbsim_combine(ARRAY[total, 3::bigint]), 1),
        smallest, turned, total];
END
$dbsim$;
CREATE OR REPLACE FUNCTION {home}.dbsim_atoms(features bigint[]) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    feature bigint;
    smallest bigint := 9223372036854775807;
    turned bigint := 9223372036854775807;
    total bigint := 0;
BEGIN
    IF cardinality(features) = 0 THEN
        RETURN ARRAY[0, 0, 0, 0, 0, 0]::bigint[];
    END IF;
    FOREACH feature IN ARRAY features LOOP
        smallest := least(smallest, feature);
        turned := least(turned, (feature & 2147483647) << 31 | (feature >> 31));
        total := (total + feature) & 4611686018427387903;
    END LOOP;
    RETURN {home}.dbsim_atoms_of(smallest, turned, greatest(total, 1));
END
$dbsim$;
CREATE OR REPLACE FUNCTION {home}.dbsim_atoms_of_names(one bigint[], two bigint[]) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    total bigint := 0;
BEGIN
    IF one[6] <> 0 AND two[6] <> 0 THEN
        total := greatest({home}.dbsim_combine(ARRAY[least(one[6], two[6]), greatest(one[6], two[6])]), 1);
    END IF;
    RETURN {home}.dbsim_atoms_of(least(one[4], two[4]), least(one[5], two[5]), total);
END
$dbsim$;
CREATE OR REPLACE FUNCTION {home}.dbsim_compound(parts bigint[], copies bigint, salt bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    IF 0 = ANY (parts) THEN
        RETURN {home}.dbsim_combine(ARRAY[copies, salt, salt]);
    END IF;
    RETURN {home}.dbsim_combine(parts || salt);
END
$dbsim$
