-- dbsim.text.kinds: any common format to YYYYMMDD; what is no date stays as its digits.
CREATE OR REPLACE FUNCTION {home}.dbsim_fold_kind_date_1(given text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
DECLARE
    plain text COLLATE "C";
    parts text[];
    numbers text[];
    part text COLLATE "C";
    month integer;
    months jsonb := {months};
    found text;
BEGIN
    IF {home}.dbsim_missing(given) THEN
        RETURN '';
    END IF;
    plain := regexp_replace({home}.dbsim_stripped(given), '[T{spaces}][{decimals}]{1,2}:[{decimals}]{2}[^\n]*$', '');
    parts := ARRAY(SELECT one FROM unnest({home}.dbsim_pieces({home}.dbsim_normalise(plain, 'text'::text))) AS one
                   WHERE one <> ALL ({ordinals}));
    numbers := ARRAY(SELECT one FROM unnest(parts) AS one WHERE one COLLATE "C" ~ '^[0-9]+$');
    IF cardinality(parts) = 1 THEN
        part := parts[1];
        IF part ~ '^[0-9]{8}$' THEN
            found := coalesce(
                {home}.dbsim_calendar(left(part, 4)::integer, substr(part, 5, 2)::integer, substr(part, 7)::integer),
                {home}.dbsim_calendar_either(substr(part, 5)::integer, substr(part, 3, 2)::integer, left(part, 2)::integer));
        END IF;
    ELSIF NOT EXISTS (SELECT FROM unnest(numbers) AS one WHERE length(one) > 4) THEN
        FOREACH part IN ARRAY parts LOOP
            CONTINUE WHEN part !~ '^[a-z]+$' AND part !~ '^[{alphabetic}]+$';
            month := coalesce(months ->> left(part, 4), months ->> left(part, 3))::integer;
            EXIT WHEN month IS NOT NULL;
        END LOOP;
        IF month IS NOT NULL AND cardinality(numbers) = 2 THEN
            IF length(numbers[1]) <= 2 THEN
                found := {home}.dbsim_calendar({home}.dbsim_calendar_year(numbers[2]), month, numbers[1]::integer);
            ELSE
                found := {home}.dbsim_calendar({home}.dbsim_calendar_year(numbers[1]), month, numbers[2]::integer);
            END IF;
        ELSIF cardinality(parts) = 3 AND cardinality(numbers) = 3 THEN
            IF length(numbers[1]) = 4 THEN
                found := {home}.dbsim_calendar_either(numbers[1]::integer, numbers[2]::integer, numbers[3]::integer);
            ELSIF length(numbers[3]) IN (2, 4) THEN
                found := {home}.dbsim_calendar_either(
                    {home}.dbsim_calendar_year(numbers[3]), numbers[2]::integer, numbers[1]::integer);
            END IF;
        END IF;
    END IF;
    RETURN coalesce(found, {home}.dbsim_fold_digits_1(given));
END
$dbsim$
