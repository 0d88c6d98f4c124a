-- dbsim.hashing.records.atoms: of one field its loose, close and exact atom (0 where it is missing), its smallest feature
-- as it is and by its lower lane, the sum of all, then the atoms of its smallest feature in three other orders and, as
-- the last two, the smallest by 15 and by 46 bits. Of both names together, whichever is which. A compound key
-- (dbsim.hashing.records.scheme); where an atom is missing it is one of this row and its copies.
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
CREATE OR REPLACE FUNCTION {home}.dbsim_atoms_again(atoms bigint[], third bigint, fourth bigint) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    IF atoms[6] = 0 THEN
        RETURN atoms || ARRAY[0, 0, 0, third, fourth]::bigint[];
    END IF;
    RETURN atoms || ARRAY[
        greatest({home}.dbsim_combine(ARRAY[atoms[5], 4::bigint]), 1),
        greatest({home}.dbsim_combine(ARRAY[third, 5::bigint]), 1),
        greatest({home}.dbsim_combine(ARRAY[fourth, 6::bigint]), 1),
        third, fourth];
END
$dbsim$;
CREATE OR REPLACE FUNCTION {home}.dbsim_atoms(features bigint[]) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    smallest bigint;
    turned bigint;
    total bigint;
    third bigint;
    fourth bigint;
BEGIN
    IF cardinality(features) = 0 THEN
        RETURN array_fill(0::bigint, ARRAY[11]);
    END IF;
    SELECT min(f), min((f & 2147483647) << 31 | (f >> 31)), (sum(f) % 4611686018427387904)::bigint,
        min((f & 32767) << 47 | (f >> 15)), min((f & 70368744177663) << 16 | (f >> 46))
    INTO smallest, turned, total, third, fourth FROM unnest(features) AS f;
    RETURN {home}.dbsim_atoms_again({home}.dbsim_atoms_of(smallest, turned, greatest(total, 1)), third, fourth);
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
    RETURN {home}.dbsim_atoms_again({home}.dbsim_atoms_of(least(one[4], two[4]), least(one[5], two[5]), total),
        least(one[10], two[10]), least(one[11], two[11]));
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
