-- dbsim.text.kinds.positions: digits as words that say where they stand, from the left or from the right.
CREATE OR REPLACE FUNCTION {home}.dbsim_places(digits text, from_right boolean) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    counted text := CASE WHEN from_right THEN reverse(digits) ELSE digits END;
    found text[] := '{}';
BEGIN
    FOR place IN 1 .. length(digits) LOOP
        found := found || (chr(96 + least(place, 26)) || substr(counted, place, 1));
    END LOOP;
    FOR place IN 1 .. length(digits) - 1 LOOP
        found := found || substr(digits, place, 2);
    END LOOP;
    RETURN array_to_string(found, ' ');
END
$dbsim$
