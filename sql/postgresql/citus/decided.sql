-- On Citus: for those who may read the whole table; a row-by-row look at the table is no join of its shards.
CREATE OR REPLACE VIEW {decided_view} WITH (security_barrier) AS
SELECT d.* FROM {decisions} AS d WHERE {sees_all} WITH LOCAL CHECK OPTION
