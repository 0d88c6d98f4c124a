-- Every bucket with the number of rows in it: the largest ones by ORDER BY size, the distribution by GROUP BY size.
CREATE VIEW {buckets_view} AS /* {mark} */
{buckets}
