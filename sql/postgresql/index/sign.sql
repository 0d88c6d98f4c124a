-- The signature a text would be stored with. Runs with its owner's rights, because it needs the secret of the index;
-- it reads nothing else, and EXECUTE is granted to nobody by default.
CREATE FUNCTION {sign}({text_arguments}) RETURNS {signatures_view}
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS {body}
DECLARE
    key bytea;
    primes bigint[];
    fields {home}.dbsim_field[];
    keys bigint[];
    marks bigint[];
    result {signatures_view};
BEGIN
    SELECT decode(i.secret, 'hex'), c.numbers INTO key, primes
    FROM {home}.dbsim_index AS i JOIN {home}.dbsim_constant AS c ON c.index_name = i.name AND c.name = 'primes' WHERE i.name = {name};
    IF primes IS NULL THEN
        RAISE 'index % is not ready to sign in SQL: run "dbsim sync"', {name};
    END IF;
    fields := ARRAY[{analysed}]::{home}.dbsim_field[];
    {assign_counts}
    {assign_words}
    IF {no_features} THEN
        RETURN result;
    END IF;
    result.{fingerprint} := {home}.dbsim_fingerprint(fields, primes);
    keys := {family}(fields, {rows}, {keys}, {name}::text);
    {assign_keys}
    {assign_bits}
    RETURN result;
END
{body}
