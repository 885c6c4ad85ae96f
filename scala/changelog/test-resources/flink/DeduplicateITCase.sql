-- testFirstRowOnProctime
SELECT k FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY at) AS rn FROM (SELECT *,
current_timestamp() AS at FROM {t})) WHERE rn = 1

-- testFirstRowOnBuiltinProctime
SELECT k FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY current_timestamp()) AS rn
FROM {t}) WHERE rn = 1

-- testLastRowOnProctime
SELECT k FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY at DESC) AS rn FROM (SELECT *,
current_timestamp() AS at FROM {t})) WHERE rn = 1

-- testLastRowOnBuiltinProctime
SELECT k FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY current_timestamp() DESC) AS
rn FROM {t}) WHERE rn = 1

-- testFirstRowOnRowtime
SELECT k, v, g, at FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY at, g) AS rn FROM
{timed}) WHERE rn = 1

-- testFirstRowWithoutAllChangelogOnRowtime: upserts
SELECT k, v, g, at FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY at, g) AS rn FROM
{timed}) WHERE rn = 1

-- testFirstRowOnRowTimeFollowedByUnboundedAgg
SELECT count(v) FROM (SELECT k, v, g, at FROM (SELECT *, row_number() OVER (PARTITION BY v ORDER
BY at, g, k) AS rn FROM {timed}) WHERE rn = 1)

-- testLastRowOnRowtime
SELECT k, v, g, at FROM (SELECT *, row_number() OVER (PARTITION BY v ORDER BY at DESC, g, k) AS rn
FROM {timed}) WHERE rn = 1

-- testLastRowWithoutAllChangelogOnRowtime: upserts
SELECT k, v, g, at FROM (SELECT *, row_number() OVER (PARTITION BY v ORDER BY at DESC, g, k) AS rn
FROM {timed}) WHERE rn = 1

-- testLastRowOnRowTimeFollowedByUnboundedAgg
SELECT count(v) FROM (SELECT k, v, g, at FROM (SELECT *, row_number() OVER (PARTITION BY v ORDER
BY at DESC, g, k) AS rn FROM {timed}) WHERE rn = 1)
