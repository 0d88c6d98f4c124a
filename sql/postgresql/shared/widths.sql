-- dbsim.hashing.error.question_widths: how far below and above a threshold the estimate of a pair at it may lie, for a
-- question with so many of `size` bits set, whatever row is compared with it. Without a threshold: the widest of any.
CREATE OR REPLACE FUNCTION {home}.dbsim_widths(
    size integer, set_bits integer, threshold double precision, sample integer,
    OUT below double precision, OUT above double precision
)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $dbsim$
    WITH features AS (
        SELECT -size * ln(1 - least(set_bits, size - 0.5) / size::double precision) AS mine,
               -size * ln(0.5 / size::double precision) AS full_filter,
               greatest(coalesce(nullif(threshold, 0), 0.5), 0.3) AS ratio
    ), pairs AS (
        SELECT mine, least(mine * ratio ^ (step / 3.0), full_filter) AS other, j
        FROM features, generate_series(-3, 3) AS step,
             unnest(CASE WHEN threshold IS NULL THEN ARRAY[0.2, 0.3, 0.5] ELSE ARRAY[threshold] END::float8[]) AS j
    ), unions AS (
        SELECT mine / size AS a, other / size AS b, j,
               greatest((mine + other) / (1 + j), mine, other, 1.0) AS u
        FROM pairs
    ), variances AS (
        SELECT j, u, (size / u ^ 2) * (
            2 * (exp(least(j * u / size, 40)) - 1 - j * u / size)
            + (1 + j) ^ 2 * (exp(least(u / size, 40)) - 1 - u / size)
            - (1 + 2 * j) * (exp(a) - 1 - a + exp(b) - 1 - b)) AS variance
        FROM unions
    ), errors AS (
        SELECT j, u, CASE WHEN size * exp(-least(u / size, 40)) < 16 THEN 'Infinity'::float8
                          ELSE 2.5 * sqrt(greatest(variance, 0) + j * (1 - j) / u * (1 - 1.0 / sample)) END AS error
        FROM variances
    )
    SELECT CASE WHEN set_bits > 0 THEN max(error + (1 - j) / u) ELSE 0 END,
           CASE WHEN set_bits > 0 THEN max(error + 1 / u) ELSE 0 END
    FROM errors
$dbsim$
