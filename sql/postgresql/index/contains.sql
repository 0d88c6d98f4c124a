-- Keys of the rows that have all these words and phrases and none of those: by the slices of the word signatures, where
-- they are complete and the caller may read them, otherwise by a scan of the signatures, then a look at the texts of
-- what passes. A row whose signature lacks a mark lacks the word, so that nothing is missed. What is asked for without
-- anything wanted is read only where the signature leaves a doubt.
CREATE FUNCTION {contains}({words_argument} text[] DEFAULT '{}', {phrase_argument} text[] DEFAULT '{}', {none_of_argument} text[] DEFAULT '{}')
RETURNS TABLE ({key_types})
LANGUAGE plpgsql STABLE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS {body}
#variable_conflict use_column
DECLARE
    dbsim_all text[] := coalesce($1, '{}') || coalesce($2, '{}');
    dbsim_wanted text[] := '{}';
    dbsim_unwanted text[] := '{}';
    dbsim_condition text;
    dbsim_doubtful text;
    dbsim_spelled text[];
    dbsim_term text;
    dbsim_number integer := 0;
    dbsim_complete boolean := false;
    dbsim_bits text[] := ARRAY[NULL, NULL]::text[];
    dbsim_field text;
    dbsim_wider integer;
    dbsim_slices integer[] := '{}';
BEGIN
    IF has_table_privilege(to_regclass({slices_literal}), 'SELECT') THEN
        EXECUTE {complete} INTO dbsim_complete;
    END IF;
    FOREACH dbsim_term IN ARRAY dbsim_all || coalesce($3, '{}') LOOP
        dbsim_number := dbsim_number + 1;
        dbsim_spelled := ARRAY[{spelled}];
        IF array_to_string(dbsim_spelled, '') IS NOT DISTINCT FROM '' THEN
            RAISE '% has no word in it: look for letters or digits', coalesce(quote_literal(dbsim_term), 'NULL');
        END IF;
        IF dbsim_number <= cardinality(dbsim_all) THEN
            dbsim_wanted := dbsim_wanted || ARRAY[dbsim_spelled];
            dbsim_condition := concat_ws(' AND ', dbsim_condition, '(' || {marked}(dbsim_spelled) || ')');
            IF dbsim_complete THEN
                FOR dbsim_kind IN 1 .. 2 LOOP
                    dbsim_wider := CASE dbsim_kind WHEN 1 THEN 0 ELSE {wider} END;
                    SELECT string_agg(format('bit_and(bits) FILTER (WHERE slice = ANY (%L))', field), ' | ')
                        INTO dbsim_field FROM {sliced}(dbsim_spelled, dbsim_wider) AS field;
                    dbsim_bits[dbsim_kind] := concat_ws(' & ', dbsim_bits[dbsim_kind], '(' || dbsim_field || ')');
                    dbsim_slices := dbsim_slices
                        || ARRAY(SELECT unnest(field) FROM {sliced}(dbsim_spelled, dbsim_wider) AS field);
                END LOOP;
            END IF;
        ELSE
            dbsim_unwanted := dbsim_unwanted || ARRAY[dbsim_spelled];
            dbsim_doubtful := concat_ws(' OR ', dbsim_doubtful, {marked}(dbsim_spelled));
        END IF;
    END LOOP;
    IF dbsim_number = 0 THEN
        RAISE 'name at least one word to look for, or to leave out';
    END IF;
    IF dbsim_bits[1] IS NOT NULL THEN
        RETURN QUERY EXECUTE format({find_sliced}, format('coalesce(%s, %s)', dbsim_bits[1], dbsim_bits[2]), array_to_string(dbsim_slices, ', '), dbsim_condition)
            USING dbsim_wanted, dbsim_unwanted;
        RETURN;
    END IF;
    RETURN QUERY EXECUTE format({find}, CASE WHEN dbsim_condition IS NULL THEN dbsim_doubtful ELSE 'true' END,
        coalesce(dbsim_condition, 'true')) USING dbsim_wanted, dbsim_unwanted;
END
{body}
