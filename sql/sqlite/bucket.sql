SELECT {number} AS key_number, a.{key} AS bucket, count(*) AS size
FROM {signatures} AS a WHERE a.{key} IS NOT NULL GROUP BY a.{key}
