-- The signatures of the rows that the caller can see. Granted instead of the table itself. A caller from whom rows are
-- hidden starts from the rows that are not: a plan with its counts tells nothing of the others.
CREATE VIEW {signatures_view} WITH (security_barrier) AS
SELECT a.* FROM {signatures} AS a WHERE {sees_all}
UNION ALL
SELECT a.* FROM {visible_rows} AS a WHERE NOT {sees_all}
