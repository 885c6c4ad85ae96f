-- testUnnestPrimitiveArrayFromTable
SELECT k, xs, x FROM (SELECT k, array(k, v) AS xs FROM {a}), LATERAL explode(xs) AS u(x)

-- testUnnestArrayOfArrayFromTable
SELECT k, x FROM (SELECT k, array(array(k, v), array(v)) AS xs FROM {a}), LATERAL explode(xs) AS
u(x)

-- testUnnestObjectArrayFromTableWithFilter
SELECT k, xs, n, s FROM (SELECT k, array(struct(v, g), struct(id AS v, 'z' AS g)) AS xs FROM {a}),
LATERAL inline(xs) AS u(n, s) WHERE n > 1

-- testUnnestMultiSetFromCollectResult
WITH sets AS (SELECT k, collect_list(struct(v, g)) AS xs FROM {t} GROUP BY k) SELECT k, n, s FROM
sets, LATERAL inline(xs) AS u(n, s) WHERE k < 3

-- testLeftUnnestMultiSetFromCollectResult
WITH sets AS (SELECT k, collect_list(g) AS xs FROM {t} GROUP BY k) SELECT k, s FROM sets LEFT JOIN
LATERAL explode(xs) AS u(s) WHERE k < 5

-- testTumbleWindowAggregateWithCollectUnnest
WITH sets AS (SELECT v, collect_list(v) AS xs FROM {timed} GROUP BY v, window(at, '3 seconds'))
SELECT v, x FROM sets, LATERAL explode(xs) AS u(x) WHERE v < 3

-- testCrossWithUnnest
SELECT k, s FROM {a}, LATERAL explode(split(g, 'a')) AS u(s)

-- testCrossWithUnnestForMap
SELECT k, v, x FROM (SELECT k, v, map('g', g, 'id', CAST(id AS STRING)) AS m FROM {a}) CROSS JOIN
LATERAL explode(m) AS u(key, x)

-- testJoinWithUnnestOfTuple
SELECT k, xs, x, y FROM (SELECT k, array(struct(v, g), struct(id AS v, 'z' AS g)) AS xs FROM {a}
WHERE k < 3) AS few, LATERAL inline(few.xs) AS u(x, y) WHERE x > k

-- testUnnestObjectArrayWithoutAlias
SELECT k, xs, u.v, u.g FROM (SELECT k, array(struct(v, g)) AS xs FROM {a}), LATERAL inline(xs) AS
u WHERE u.v > 1

-- testUnnestWithNestedFilter
SELECT * FROM (SELECT k, x, y FROM (SELECT k, array(struct(v, g)) AS xs FROM {a}) AS few CROSS
JOIN LATERAL inline(few.xs) AS u(x, y) WHERE u.x >= 2) WHERE y <> 'cocoa'
