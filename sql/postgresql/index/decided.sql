-- What people decided about rows that the caller can see, to read and, for roles that were granted that too, to write:
-- the table of decisions itself is its owner's, and names rows that others may not see.
CREATE OR REPLACE VIEW {decided_view} WITH (security_barrier) AS
SELECT d.* FROM {decisions} AS d WHERE {sees_all} OR (
    ({decided_a}) IN (SELECT {visible_key} FROM {visible}() AS v) AND ({decided_b}) IN (SELECT {visible_key} FROM {visible}() AS v)
) WITH LOCAL CHECK OPTION
