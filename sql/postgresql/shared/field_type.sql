-- One field of a text on its way to a signature: what a hash family may look at.
DO $dbsim$
BEGIN
    IF to_regtype({field_literal}) IS NULL THEN
        CREATE TYPE {home}.dbsim_field AS (folded text, tokens bigint[], features bigint[], bits bit varying);
    END IF;
END
$dbsim$
