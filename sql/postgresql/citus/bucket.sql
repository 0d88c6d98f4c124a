SELECT {number} AS key_number, a.{key} AS bucket, count(*) AS size FROM {signatures} AS a
WHERE a.{key} IS NOT NULL AND {sees_all} GROUP BY a.{key}
