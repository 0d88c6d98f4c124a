-- Roles other than the owner that may read the secrets of indexes, from grants on the table or on its column.
SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE CAST(CAST(a.grantee AS regrole) AS text) END AS role
FROM pg_class c
LEFT JOIN pg_attribute t ON t.attrelid = c.oid AND t.attname = 'secret',
LATERAL (SELECT * FROM aclexplode(c.relacl) UNION ALL SELECT * FROM aclexplode(t.attacl)) AS a
WHERE c.oid = to_regclass('dbsim_index') AND a.privilege_type = 'SELECT' AND a.grantee <> c.relowner
ORDER BY 1
