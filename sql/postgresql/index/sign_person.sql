-- The signature of a record of a person, as dbsim.hashing.records.family makes it with what was learned of the table.
-- Runs with its owner's rights, because it needs the secret of the index; EXECUTE is granted to nobody by default.
CREATE FUNCTION {sign}({text_arguments}) RETURNS {signatures_view}
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS {body}
DECLARE
    key bytea;
    primes bigint[];
    fields {home}.dbsim_field[];
    {declare_atoms}
    copies bigint;
    marks bigint[];
    result {signatures_view};
BEGIN
    SELECT decode(i.secret, 'hex'), c.numbers INTO key, primes
    FROM {home}.dbsim_index AS i JOIN {home}.dbsim_constant AS c ON c.index_name = i.name AND c.name = 'primes' WHERE i.name = {name};
    IF primes IS NULL OR NOT {fitted} THEN
        RAISE 'index % is not ready to sign in SQL: run "dbsim sync"', {name};
    END IF;
    fields := ARRAY[{analysed}]::{home}.dbsim_field[];
    {assign_counts}
    {assign_words}
    {assign_bits}
    {assign_atoms}
    {assign_rarities}
    IF ({no_features}) OR least({own_evidence}) < 0 THEN  -- even a copy would more likely be somebody else
        RETURN result;
    END IF;
    result.{fingerprint} := {home}.dbsim_fingerprint(fields, primes);
    copies := {home}.dbsim_combine(ARRAY[{exact_atoms}]);
    {assign_compounds}
    RETURN result;
END
{body}
