WITH common AS MATERIALIZED (
    SELECT block, {bits} AS bits FROM {slices} WHERE slice IN ({listed}) GROUP BY block
), parts AS (
    SELECT block, 64 * n AS first, CAST(substring(bits FROM 64 * n + 1 FOR 64) AS bit(64)) AS part
    FROM common CROSS JOIN LATERAL generate_series(0, length(bits) / 64 - 1) AS n
), found AS MATERIALIZED (
    SELECT CAST(block AS bigint) * {block} + first + i AS place FROM parts CROSS JOIN generate_series(0, 63) AS i
    WHERE part <> CAST(0 AS bit(64)) AND get_bit(part, i) = 1
)
SELECT {keys} FROM found CROSS JOIN LATERAL (SELECT {keys} FROM {places} AS p WHERE p.place = found.place OFFSET 0) AS p
