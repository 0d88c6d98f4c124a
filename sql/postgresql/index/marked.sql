-- The condition on the columns of the word signatures that every row with these words fulfils: one text a field, as its
-- normaliser spells them. Runs with its owner's rights, because it needs the secret of the index, and reads nothing else.
CREATE FUNCTION {marked}(dbsim_spelled text[]) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS {body}
DECLARE
    dbsim_secret bytea := (SELECT decode(i.secret, 'hex') FROM {home}.dbsim_index AS i WHERE i.name = {name});
BEGIN
    RETURN (
        SELECT string_agg('(' || field.condition || ')', ' OR ') FROM (
            SELECT (
                SELECT string_agg(format('%I & %L::bigint = %L::bigint', f.columns[m.place], m.mark, m.mark), ' AND ')
                FROM unnest({home}.dbsim_marks(
                    {home}.dbsim_tokens(string_to_array(dbsim_spelled[f.number], ' '), dbsim_secret), f.bits, f.per_word
                )) WITH ORDINALITY AS m (mark, place) WHERE m.mark <> 0
            ) AS condition
            FROM (VALUES {word_fields}) AS f (number, bits, per_word, columns, first)
        ) AS field WHERE field.condition IS NOT NULL
    );
END
{body}
