-- testGenericSemiJoin
SELECT k, v, g FROM {a} WHERE k IN (SELECT bk FROM {b} WHERE bk < 3)

-- testSemiJoinWithOneSideRetraction
SELECT v FROM {a} WHERE v IN (SELECT sum(bv) FROM {b} GROUP BY bg)

-- testSemiJoinWithRetractTwoSidesRetraction
SELECT s FROM (SELECT sum(v) AS s FROM {a} GROUP BY g) WHERE s IN (SELECT sum(bv) FROM {b} GROUP
BY bg)

-- testGenericAntiJoin
SELECT g FROM {a} WHERE NOT EXISTS (SELECT * FROM {b} WHERE v = bv)

-- testAntiJoinWithOneSideRetraction
SELECT * FROM {a} WHERE NOT EXISTS (SELECT s FROM (SELECT sum(bv) AS s FROM {b} GROUP BY bg) WHERE
v = s)

-- testAntiJoinWithTwoSidesRetraction
SELECT * FROM (SELECT sum(v) AS v, g FROM {a} GROUP BY g) WHERE NOT EXISTS (SELECT s FROM (SELECT
sum(bv) AS s FROM {b} GROUP BY bg) WHERE v = s)

-- testSemiJoin
SELECT * FROM {a} WHERE k IN (SELECT bk FROM {b})

-- testSemiJoinNonEqui
SELECT * FROM {a} WHERE k IN (SELECT bk FROM {b} WHERE v < bv)

-- testSemiJoinWithEqualPkNonEqui
SELECT * FROM {sumA} WHERE k IN (SELECT bk FROM {sumB} WHERE v < bv)

-- testSemiJoinWithRightNotPkNonEqui
SELECT * FROM {sumA} WHERE k IN (SELECT bk FROM {b} WHERE v < bv)

-- testSemiJoinWithPkNonEqui
SELECT * FROM {sumA} WHERE v IN (SELECT bv FROM {sumB} WHERE k > bk)

-- testAntiJoin
SELECT * FROM {a} WHERE NOT EXISTS (SELECT bk FROM {b} WHERE k = bk)

-- testAntiJoinNonEqui
SELECT * FROM {a} WHERE NOT EXISTS (SELECT bk FROM {b} WHERE k = bk AND v < bv)

-- testAntiJoinWithEqualPkNonEqui
SELECT * FROM {sumA} WHERE NOT EXISTS (SELECT bk FROM {sumB} WHERE k = bk AND v < bv)

-- testAntiJoinWithRightNotPkNonEqui
SELECT * FROM {sumA} WHERE NOT EXISTS (SELECT bk FROM {b} WHERE k = bk AND v > bv)

-- testAntiJoinWithPkNonEqui
SELECT * FROM {sumA} WHERE NOT EXISTS (SELECT bv FROM {sumB} WHERE v = bv AND k > bk)

-- testStreamNotInWithoutEqual
SELECT k FROM {a} WHERE k NOT IN (SELECT k FROM {a} WHERE k > 2)

-- testStreamExistsWithoutEqual
SELECT * FROM {a} AS x WHERE EXISTS (SELECT 1 FROM {b} WHERE bv > x.v) AND EXISTS (SELECT 0 FROM
{b} WHERE bk = x.k AND bg = 'tea')

-- testStreamNotExistsWithoutEqual
SELECT k FROM {a} AS x WHERE NOT EXISTS (SELECT 1 FROM {b} WHERE bk < x.k)

-- testExistsWithUncorrelated_ComplexCondition
SELECT k + 10, g FROM {a} WHERE v > 1 AND NOT (g LIKE 'cocoa' OR NOT EXISTS (SELECT bk FROM {b}))
