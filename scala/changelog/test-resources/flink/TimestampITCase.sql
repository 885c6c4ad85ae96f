-- testGroupByTimestamp
SELECT count(k), n FROM (SELECT k, v, timestamp_micros(if(g IS NULL, NULL, (v - 3) * 123457)) AS
z, CAST(timestamp_micros(if(g IS NULL, NULL, (v - 3) * 123457)) AS TIMESTAMP_NTZ) AS n FROM {t})
GROUP BY n

-- testGroupByLocalZonedTimestamp
SELECT count(k), z FROM (SELECT k, v, timestamp_micros(if(g IS NULL, NULL, (v - 3) * 123457)) AS
z, CAST(timestamp_micros(if(g IS NULL, NULL, (v - 3) * 123457)) AS TIMESTAMP_NTZ) AS n FROM {t})
GROUP BY z

-- testCountDistinctOnTimestamp
SELECT count(DISTINCT n), k FROM (SELECT k, v, timestamp_micros(if(g IS NULL, NULL, (v - 3) *
123457)) AS z, CAST(timestamp_micros(if(g IS NULL, NULL, (v - 3) * 123457)) AS TIMESTAMP_NTZ) AS n
FROM {t}) GROUP BY k

-- testCountDistinctOnLocalZonedTimestamp
SELECT count(DISTINCT z), k FROM (SELECT k, v, timestamp_micros(if(g IS NULL, NULL, (v - 3) *
123457)) AS z, CAST(timestamp_micros(if(g IS NULL, NULL, (v - 3) * 123457)) AS TIMESTAMP_NTZ) AS n
FROM {t}) GROUP BY k

-- testMaxMinOnTimestamp
SELECT max(n), min(n), k FROM (SELECT k, v, timestamp_micros(if(g IS NULL, NULL, (v - 3) *
123457)) AS z, CAST(timestamp_micros(if(g IS NULL, NULL, (v - 3) * 123457)) AS TIMESTAMP_NTZ) AS n
FROM {t}) GROUP BY k

-- testMaxMinWithRetractOnTimestamp
SELECT max(lo), min(hi) FROM (SELECT k, max(n) AS hi, min(n) AS lo FROM (SELECT k, v,
timestamp_micros(if(g IS NULL, NULL, (v - 3) * 123457)) AS z, CAST(timestamp_micros(if(g IS NULL,
NULL, (v - 3) * 123457)) AS TIMESTAMP_NTZ) AS n FROM {t}) GROUP BY k, v) GROUP BY k
