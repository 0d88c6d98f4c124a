-- On Citus: for those who may read the whole table; a row-by-row look at the table is no join of its shards.
CREATE VIEW {signatures_view} WITH (security_barrier) AS
SELECT a.* FROM {signatures} AS a WHERE {sees_all}
