-- The signatures of the rows that the caller can see. Granted instead of the table itself.
CREATE VIEW {signatures_view} WITH (security_barrier) AS
SELECT a.* FROM {signatures} AS a WHERE {visible_a}
