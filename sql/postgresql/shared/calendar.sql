-- A day that was written by its numbers as YYYYMMDD, or NULL when there is no such day or nobody lived then.
CREATE OR REPLACE FUNCTION {home}.dbsim_calendar(year integer, month integer, day integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    IF year BETWEEN {first_year} AND {last_year} AND month BETWEEN 1 AND 12 AND day BETWEEN 1 AND
        extract(day FROM make_date(year, month, 1) + interval '1 month' - interval '1 day') THEN
        RETURN lpad(year::text, 4, '0') || lpad(month::text, 2, '0') || lpad(day::text, 2, '0');
    END IF;
    RETURN NULL;
END
$dbsim$;
CREATE OR REPLACE FUNCTION {home}.dbsim_calendar_either(year integer, month integer, day integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    RETURN coalesce({home}.dbsim_calendar(year, month, day), {home}.dbsim_calendar(year, day, month));
END
$dbsim$;
CREATE OR REPLACE FUNCTION {home}.dbsim_calendar_year(digits text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
BEGIN
    RETURN digits::integer + CASE WHEN length(digits) > 2 THEN 0 WHEN digits::integer >= {pivot} THEN 1900 ELSE 2000 END;
END
$dbsim$
