-- testCountDistinct
SELECT k, count(DISTINCT timestamp_seconds(if(id % 3 = 0, NULL, v))), count(DISTINCT
date_from_unix_date(CAST(v AS INT))), count(DISTINCT make_dt_interval(0, CAST(v AS INT))),
count(DISTINCT w), count(DISTINCT CAST(v AS INT)), count(DISTINCT if(id % 3 = 0, NULL, v)),
count(DISTINCT g) FROM {t} GROUP BY k

-- testSingleDistinctAgg
SELECT count(DISTINCT g) FROM {t}

-- testMultiCountDistinctAgg
SELECT count(DISTINCT v), count(DISTINCT g) FROM {t}

-- testSingleDistinctAggAndOneOrMultiNonDistinctAgg
SELECT k, sum(v), count(DISTINCT g), avg(v) FROM {t} GROUP BY k

-- testSingleDistinctAggWithGroupBy
SELECT k, count(DISTINCT g) FROM {t} GROUP BY k

-- testSingleDistinctAggWithAndNonDistinctAggOnSameColumn
SELECT k, count(DISTINCT v), max(v), min(v) FROM {t} GROUP BY k

-- testSomeColumnsBothInDistinctAggAndGroupBy
SELECT k, count(DISTINCT k), count(v) FROM {t} GROUP BY k

-- testAggWithFilterClause
SELECT k, count(DISTINCT v) FILTER (WHERE NOT v = 2), max(v) FILTER (WHERE NOT v = 5), min(v)
FILTER (WHERE NOT v = 2) FROM {t} GROUP BY k

-- testMinMaxWithRetraction
SELECT m, min(n), max(n), count(DISTINCT k) FROM (SELECT k, count(DISTINCT v) AS n, max(v) AS m
FROM {t} GROUP BY k) GROUP BY m

-- testCountWithSingleDistinctAndRetraction
SELECT n, count(DISTINCT m), count(1) FROM (SELECT k, count(v) AS n, max(v) AS m FROM {t} GROUP BY
k) GROUP BY n

-- testSumCountWithSingleDistinctAndRetraction
SELECT n, sum(m), count(DISTINCT m), count(1) FROM (SELECT k, count(v) AS n, max(v) AS m FROM {t}
GROUP BY k) GROUP BY n

-- testAggWithJoin
SELECT * FROM (SELECT m, min(n) AS lo, max(n) AS hi, count(DISTINCT k) AS c FROM (SELECT k,
count(DISTINCT v) AS n, max(v) AS m FROM {t} GROUP BY k) GROUP BY m) JOIN {b} ON lo + 1 = bk

-- testUvWithRetraction
SELECT k, count(DISTINCT g) AS uv FROM (SELECT k, g, last_value(v) FROM {t} GROUP BY k, g) GROUP
BY k

-- testCountDistinctWithBinaryRowSource
SELECT k, g, count(DISTINCT v) AS uv FROM (SELECT k, g, v, w FROM {t} WHERE g <> '' UNION ALL
SELECT k, 'all' AS g, v, w FROM {t} WHERE g <> '') GROUP BY k, g

-- testMultipleDistinctAggOnSameColumn
SELECT k, count(DISTINCT v), count(DISTINCT v) FILTER (WHERE NOT v = 2), max(v) FILTER (WHERE NOT
v = 5), min(v) FILTER (WHERE NOT v = 2) FROM {t} GROUP BY k

-- testAggFilterClauseBothWithAvgAndCount
SELECT k, count(DISTINCT v) FILTER (WHERE NOT v = 2), sum(v) FILTER (WHERE NOT v = 5), count(v),
sum(v), avg(v) FROM {t} GROUP BY k

-- testListAggWithDistinctMultiArgs
SELECT k, listagg(DISTINCT g, '#') WITHIN GROUP (ORDER BY g) FROM {t} GROUP BY k
