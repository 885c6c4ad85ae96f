-- testTopN
SELECT * FROM (SELECT g, k, v, row_number() OVER (PARTITION BY g ORDER BY v DESC, k) AS rn FROM
{t}) WHERE rn <= 2

-- testTop1
SELECT * FROM (SELECT g, k, v, row_number() OVER (PARTITION BY g ORDER BY v DESC, k) AS rn FROM
{t}) WHERE rn = 1

-- testTop2
SELECT * FROM (SELECT g, k, v, row_number() OVER (PARTITION BY g ORDER BY v DESC, k) AS rn FROM
{t}) WHERE rn = 2

-- testTopNWithUpsertSink: upserts
SELECT * FROM (SELECT g, k, v, row_number() OVER (PARTITION BY g ORDER BY v, k) AS rn FROM {t})
WHERE rn <= 2

-- testTopNWithUnary: upserts
SELECT * FROM (SELECT g, k, v, row_number() OVER (PARTITION BY g ORDER BY v, k) AS rn FROM {sums})
WHERE rn <= 3

-- testUnarySortTopNOnString: upserts
SELECT * FROM (SELECT k, v, m, row_number() OVER (PARTITION BY k ORDER BY m, v) AS rn FROM (SELECT
k, v, max(g) AS m FROM {t} GROUP BY k, v)) WHERE rn <= 3

-- testTopNWithGroupBy: upserts
SELECT * FROM (SELECT g, k, v, row_number() OVER (PARTITION BY g ORDER BY v DESC, k) AS rn FROM
{sums}) WHERE rn <= 2

-- testTopNWithSumAndCondition: upserts
SELECT * FROM (SELECT g, k, s, row_number() OVER (PARTITION BY g ORDER BY s DESC, k) AS rn FROM
(SELECT g, k, sum(d) AS s FROM {t} WHERE d >= CAST(1.1 AS DOUBLE) GROUP BY g, k)) WHERE rn <= 2

-- testTopNthWithGroupBy: upserts
SELECT * FROM (SELECT g, k, v, row_number() OVER (PARTITION BY g ORDER BY v DESC, k) AS rn FROM
{sums}) WHERE rn = 2

-- testTopNWithGroupByAndRetract
SELECT * FROM (SELECT g, k, v, n, row_number() OVER (PARTITION BY g ORDER BY v DESC, n, k) AS rn
FROM (SELECT g, k, sum(v) AS v, count(v) AS n FROM {t} GROUP BY g, k)) WHERE rn <= 2

-- testTopNthWithGroupByAndRetract
SELECT * FROM (SELECT g, k, v, n, row_number() OVER (PARTITION BY g ORDER BY v DESC, n, k) AS rn
FROM (SELECT g, k, sum(v) AS v, count(v) AS n FROM {t} GROUP BY g, k)) WHERE rn = 2

-- testTopNWithGroupByCount: upserts
SELECT g, rn, n, k FROM (SELECT g, k, n, row_number() OVER (PARTITION BY g ORDER BY n DESC, k) AS
rn FROM {counts}) WHERE rn <= 4

-- testTop1WithGroupByCount: upserts
SELECT g, rn, n, k FROM (SELECT g, k, n, row_number() OVER (PARTITION BY g ORDER BY n DESC, k) AS
rn FROM {counts}) WHERE rn = 1

-- testTop3WithGroupByCount: upserts
SELECT g, rn, n, k FROM (SELECT g, k, n, row_number() OVER (PARTITION BY g ORDER BY n DESC, k) AS
rn FROM {counts}) WHERE rn = 3

-- testNestedTopN: upserts
SELECT rn, g, k, m, n FROM (SELECT g, k, m, n, row_number() OVER (ORDER BY m DESC, g, k) AS rn
FROM (SELECT rn, g, k, m, n FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY m DESC, k)
AS rn FROM (SELECT g, k, count(*) AS n, max(v) AS m FROM {t} GROUP BY g, k)) WHERE rn <= 4)) WHERE
rn <= 4

-- testTopNWithoutDeduplicate
SELECT rn, g, k, m, n FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY m DESC, k) AS rn
FROM (SELECT g, k, count(*) AS n, max(v) AS m FROM {t} GROUP BY g, k)) WHERE rn <= 4

-- testTopNWithVariableTopSize: upserts
SELECT g, rn, n, k FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY n DESC, k) AS rn
FROM (SELECT g, k, count(v) AS n, max(length(g)) - 2 AS size FROM {t} GROUP BY g, k)) WHERE rn <=
size

-- testTopNUnaryComplexScenario: upserts
SELECT * FROM (SELECT g, k, v, row_number() OVER (PARTITION BY g ORDER BY v, k) AS rn FROM (SELECT
g, k, sum(if(id % 2 = 0, v, -2 * v)) AS v FROM {t} GROUP BY g, k)) WHERE rn <= 3

-- testTopNWithGroupByAvgWithoutRowNumber: upserts
SELECT g, k, v FROM (SELECT g, k, v, row_number() OVER (PARTITION BY g ORDER BY v DESC, k) AS rn
FROM (SELECT g, k, avg(v) AS v FROM {t} GROUP BY g, k)) WHERE rn <= 3

-- testTopNWithGroupByCountWithoutRowNumber: upserts
SELECT g, k, n FROM (SELECT g, k, n, row_number() OVER (PARTITION BY g ORDER BY n DESC, k) AS rn
FROM {counts}) WHERE rn <= 3

-- testTopNWithoutRowNumber
SELECT g, v, k FROM (SELECT g, k, v, row_number() OVER (PARTITION BY g ORDER BY v DESC, k) AS rn
FROM {t}) WHERE rn <= 2

-- testMultipleRetractTopNAfterAgg
SELECT * FROM (SELECT g, k, s, a, row_number() OVER (PARTITION BY g ORDER BY s DESC, a, k) AS rn
FROM {all}) WHERE rn <= 2;
SELECT * FROM (SELECT g, k, m, n, row_number() OVER (PARTITION BY g ORDER BY m DESC, n, k) AS rn
FROM {all}) WHERE rn <= 2

-- testMultipleUnaryTopNAfterAgg: upserts
SELECT * FROM (SELECT g, k, s, row_number() OVER (PARTITION BY g ORDER BY s DESC, k) AS rn FROM
{all}) WHERE rn <= 2;
SELECT * FROM (SELECT g, k, m, row_number() OVER (PARTITION BY g ORDER BY m DESC, k) AS rn FROM
{all}) WHERE rn <= 2

-- testMultipleUpdateTopNAfterAgg
SELECT * FROM (SELECT g, k, n, row_number() OVER (PARTITION BY g ORDER BY n DESC, k) AS rn FROM
{all}) WHERE rn <= 2;
SELECT * FROM (SELECT g, k, m, row_number() OVER (PARTITION BY g ORDER BY m DESC, k) AS rn FROM
{all}) WHERE rn <= 2

-- testCorrelateSortToRank
SELECT x.g, k FROM (SELECT DISTINCT g FROM {t}) AS x, LATERAL (SELECT k, v FROM {t} WHERE g = x.g
ORDER BY v DESC, k LIMIT 3)

-- testCorrelateSortToRankWithMultipleGroupKeys
SELECT x.g, x.k, v FROM (SELECT DISTINCT g, k FROM {t}) AS x, LATERAL (SELECT v, id FROM {t} WHERE
g = x.g AND k = x.k ORDER BY v DESC, id LIMIT 2)
