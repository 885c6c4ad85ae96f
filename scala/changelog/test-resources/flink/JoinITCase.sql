-- testDependentConditionDerivationInnerJoin
SELECT * FROM {a}, {b} WHERE (v = 2 AND bv = 5) OR (k = 1 AND bk = 4)

-- testDependentConditionDerivationInnerJoinWithTrue
SELECT * FROM {a}, {b} WHERE (v = 2 AND true) OR (k = 1 AND bk = 4)

-- testDependentConditionDerivationInnerJoinWithNull
SELECT * FROM {a}, {b} WHERE (k = 1 AND bk = 3) OR (k = 2 AND bg IS NULL)

-- testNonWindowInnerJoin
SELECT bk, bg, g FROM {nullA} JOIN {nullB} ON k = bk AND v > bv

-- testIsNullInnerJoinWithNullCond
SELECT bk, bg, g FROM {nullA} JOIN {nullB} ON ((k IS NULL AND bk IS NULL) OR k = bk) AND v > bv

-- testJoin
SELECT g, bg FROM {a}, {b} WHERE v = bv

-- testInnerJoin
SELECT v, g, bv, bg FROM {a} JOIN {b} ON v = bv

-- testInnerJoin2
SELECT k, bk FROM {a} JOIN {b} ON k = bk

-- testJoinWithFilter
SELECT g, bg FROM {a}, {b} WHERE v = bv AND v < 3

-- testInnerJoinWithDuplicateKey
SELECT k, bk, bv FROM {a} JOIN {b} ON k = bk AND k = bv

-- testInnerJoinWithBooleanFilterCondition
SELECT k, k, bg FROM (SELECT *, v > 1 AS big FROM {a}) JOIN (SELECT *, bv > 1 AS huge FROM {b}) ON
big = huge WHERE big IS TRUE

-- testInnerJoinWithNonEquiJoinPredicate
SELECT g, bg FROM {a}, {b} WHERE k = bk AND v < 9 AND bd < v

-- testJoinWithMultipleKeys
SELECT g, bg FROM {a}, {b} WHERE k = bk AND v = bv

-- testJoinWithAlias
SELECT y.bv, x.`à la carte: 1/2` FROM (SELECT k, g AS `à la carte: 1/2` FROM {a}) AS x, {b} AS y
WHERE k = bk AND k < 4

-- testDataStreamJoinWithAggregation
SELECT count(bg), count(v) FROM {a}, {b} WHERE k = bk

-- testLeftOuterJoin
SELECT v, g, bv, bg FROM {a} LEFT JOIN (SELECT * FROM {b} WHERE bv < 0) ON v = bv

-- testLeftOuterJoinWithRetraction
SELECT v, g, bv, bg FROM {a} LEFT JOIN {b} ON v = bv

-- testStreamJoinWithSameRecord
SELECT x.k, x.v, bk, bv FROM (SELECT k, k AS v FROM {a} UNION ALL SELECT k, k FROM {a}) AS x JOIN
(SELECT bk, bk AS bv FROM {b}) ON x.k = bk

-- testFullOuterJoin
SELECT g, bg FROM {a} FULL JOIN {b} ON v = bv

-- testLeftOuterJoin2
SELECT g, bg FROM {b} LEFT JOIN {a} ON v = bv

-- testRightOuterJoin
SELECT g, bg FROM {a} RIGHT JOIN {b} ON v = bv

-- testInnerJoinWithEqualPk
SELECT k, bk FROM {sumA} JOIN {sumB} ON k = bk

-- testInnerMultiJoinWithEqualPk
SELECT k, bk FROM {sumA}, {sumB} WHERE k = bk

-- testThreeWayMultiJoinWithoutPk
SELECT k, bk, ck FROM {sumA} JOIN {sumB} ON k = bk JOIN (SELECT ck, sum(cv) AS cv FROM {c} GROUP
BY ck) ON cv = bv

-- testInnerJoinWithPk
SELECT k, v, bk, bv FROM {sumA} JOIN {sumB} ON v = bv

-- testLeftJoinNonEqui
SELECT k, bk FROM {a} LEFT JOIN {b} ON k = bk AND v > bv

-- testLeftJoinWithEqualPkNonEqui
SELECT k, bk FROM {sumA} LEFT JOIN {sumB} ON k = bk AND v > bv

-- testLeftJoinWithRightNotPkNonEqui
SELECT k, bk FROM {sumA} LEFT JOIN {b} ON k = bk AND v > bv

-- testLeftJoinWithPkNonEqui
SELECT k, v, bk, bv FROM {sumA} LEFT JOIN {sumB} ON v = bv AND k > bk

-- testLeftJoin
SELECT k, bk FROM {a} LEFT JOIN {b} ON k = bk

-- testLeftJoinWithEqualPk
SELECT k, bk FROM {sumA} LEFT JOIN {sumB} ON k = bk

-- testLeftJoinWithRightNotPk
SELECT k, bk FROM {sumA} LEFT JOIN {b} ON k = bk

-- testLeftJoinWithPk
SELECT k, v, bk, bv FROM {sumA} LEFT JOIN {sumB} ON v = bv

-- testLeftJoinOnRowKey: keys
SELECT o, l, bid, bw FROM (SELECT struct(k, g) AS o FROM {a}) LEFT JOIN (SELECT struct(bk, bg) AS
l, bid, bw FROM {b}) ON o = l

-- testLeftJoinOnRowKeyWithNonEquiCondition: keys
SELECT o, l, bid, bv FROM (SELECT struct(k, g) AS o, v FROM {a}) LEFT JOIN (SELECT struct(bk, bg)
AS l, bid, bv FROM {b}) ON o = l AND bv <> v

-- testRightJoinNonEqui
SELECT k, bk FROM {a} RIGHT JOIN {b} ON k = bk AND v > bv

-- testRightJoinWithEqualPkNonEqui
SELECT k, bk FROM {sumA} RIGHT JOIN {sumB} ON k = bk AND v > bv

-- testRightJoinWithRightNotPkNonEqui
SELECT k, bk FROM {sumA} RIGHT JOIN {b} ON k = bk AND v > bv

-- testRightJoinWithPkNonEqui
SELECT k, v, bk, bv FROM {sumA} RIGHT JOIN {sumB} ON v = bv AND k > bk

-- testRightJoin
SELECT k, bk FROM {a} RIGHT JOIN {b} ON k = bk

-- testRightJoinWithEqualPk
SELECT k, bk FROM {sumA} RIGHT JOIN {sumB} ON k = bk

-- testRightJoinWithRightNotPk
SELECT k, bk FROM {sumA} RIGHT JOIN {b} ON k = bk

-- testRightJoinWithPk
SELECT k, v, bk, bv FROM {sumA} RIGHT JOIN {sumB} ON v = bv

-- testFullJoinNonEqui
SELECT k, bk FROM {a} FULL JOIN {b} ON k = bk AND v > bv

-- testFullJoinWithEqualPkNonEqui
SELECT k, bk FROM {sumA} FULL JOIN {sumB} ON k = bk AND v > bv

-- testFullJoinWithFullNotPkNonEqui
SELECT k, bk FROM {sumA} FULL JOIN {b} ON k = bk AND v > bv

-- testFullJoinWithPkNonEqui
SELECT k, v, bk, bv FROM {sumA} FULL JOIN {sumB} ON v = bv AND k > bk

-- testFullJoin
SELECT k, bk FROM {a} FULL JOIN {b} ON k = bk

-- testFullJoinWithEqualPk
SELECT k, bk FROM {sumA} FULL JOIN {sumB} ON k = bk

-- testFullJoinWithFullNotPk
SELECT k, bk FROM {sumA} FULL JOIN {b} ON k = bk

-- FullJoinWithPk
SELECT k, v, bk, bv FROM {sumA} FULL JOIN {sumB} ON v = bv

-- testNullLeftOuterJoin
SELECT k, v, bk, bv FROM {nullA} LEFT JOIN {nullB} ON k = bk

-- testNullLeftOuterJoinWithNullCond
SELECT k, v, bk, bv FROM {nullA} LEFT JOIN {nullB} ON k = bk OR (k IS NULL AND bk IS NULL)

-- testNullRightOuterJoin
SELECT k, v, bk, bv FROM {nullA} RIGHT JOIN {nullB} ON k = bk

-- testNullRightOuterJoinWithNullCond
SELECT k, v, bk, bv FROM {nullA} RIGHT JOIN {nullB} ON k = bk OR (k IS NULL AND bk IS NULL)

-- testNullFullOuterJoin
SELECT k, v, bk, bv FROM {nullA} FULL JOIN {nullB} ON k = bk

-- testNullFullOuterJoinWithNullCond
SELECT k, v, bk, bv FROM {nullA} FULL JOIN {nullB} ON k = bk OR (k IS NULL AND bk IS NULL)

-- testJoinWithoutWatermark
SELECT x.k, v, minus FROM {a} AS x, (SELECT bk AS k, -bv AS minus FROM {b}) AS y WHERE x.k = y.k

-- testBigDataOfJoin
SELECT count(DISTINCT n) FROM (SELECT n FROM (SELECT 60 * v + i AS n FROM {a} LATERAL VIEW
explode(sequence(1, 60)) AS i), (SELECT 60 * bv + i AS bn FROM {b} LATERAL VIEW
explode(sequence(1, 60)) AS i) WHERE n = bn)

-- testJoinWithUDFFilter
SELECT g, bg FROM {a} JOIN {b} ON is_even(k + bk) WHERE v = bv

-- testJoinWithFilterPushDown
SELECT * FROM {maxA} JOIN {maxB} ON k = bk AND n = bn WHERE k >= 2;
SELECT * FROM {maxA} LEFT JOIN {maxB} ON k = bk AND n = bn WHERE k >= 2;
SELECT * FROM {maxA} LEFT JOIN {maxB} ON k = bk AND n = bn WHERE bk >= 2;
SELECT * FROM {maxA} RIGHT JOIN {maxB} ON k = bk AND n = bn WHERE k >= 2;
SELECT * FROM {maxA} RIGHT JOIN {maxB} ON k = bk AND n = bn WHERE bk >= 2;
SELECT * FROM {a} LEFT JOIN {b} ON k = bk WHERE bk = 3;
SELECT * FROM {a} LEFT JOIN {b} ON k = bk WHERE bk IS NULL;
SELECT * FROM {a} LEFT JOIN {b} ON k = bk WHERE bk IS NULL AND k <= 1;
SELECT * FROM {a} LEFT JOIN {b} ON k = bk WHERE bk < 3 AND k <= 3;
SELECT * FROM {a} LEFT JOIN {b} ON k = bk WHERE bk <> 3 AND k <= 3

-- testJoinWithJoinConditionPushDown
SELECT * FROM {maxA} JOIN {maxB} ON k = bk AND n = bn AND k >= 2;
SELECT * FROM {maxA} LEFT JOIN {maxB} ON k = bk AND n = bn AND k >= 2;
SELECT * FROM {maxA} LEFT JOIN {maxB} ON k = bk AND n = bn AND bk >= 2;
SELECT * FROM {maxA} RIGHT JOIN {maxB} ON k = bk AND n = bn AND k >= 2;
SELECT * FROM {maxA} RIGHT JOIN {maxB} ON k = bk AND n = bn AND bk >= 2
