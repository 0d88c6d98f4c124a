SELECT {number} AS key_number, a.{key} AS bucket, count(*) AS size FROM (
    SELECT a.{key} FROM {signatures} AS a WHERE {sees_all}
    UNION ALL
    SELECT a.{key} FROM {visible_rows} AS a WHERE NOT {sees_all}
) AS a WHERE a.{key} IS NOT NULL GROUP BY a.{key}
