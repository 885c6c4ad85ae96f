-- testLHS1: keys
SELECT k, cv, cg, g, bg FROM {a} JOIN {b} ON k = bk AND v < 5 JOIN {c} ON ck = bk AND ck <> 2

-- testLHS2: keys
SELECT k, cv, cg, g, bg FROM {a} JOIN {b} ON k = bk AND v < 5 JOIN {c} ON ck = k AND ck <> 2

-- testMultiLHS1: keys
SELECT k, cv, dk, cg, dg, g, bg FROM {a} JOIN {b} ON k = bk AND v < 5 JOIN {c} ON ck = bk AND ck
<> 2 JOIN (SELECT k AS dk, max(g) AS dg FROM {t} WHERE id % 3 = 1 GROUP BY k) ON dk = ck

-- testMultiLHS2: keys
SELECT k, cv, dk, cg, dg, g, bg FROM {a} JOIN {b} ON k = bk AND v < 5 JOIN {c} ON ck = bk AND ck
<> 2 JOIN (SELECT k AS dk, max(g) AS dg FROM {t} WHERE id % 3 = 1 GROUP BY k) ON dk = k

-- testMultiLHS3: keys
SELECT k, cv, dk, cg, dg, g, bg FROM {a} JOIN {b} ON k = bk AND v < 5 JOIN {c} ON ck = bk AND ck
<> 2 JOIN (SELECT k AS dk, max(g) AS dg FROM {t} WHERE id % 3 = 1 GROUP BY k) ON dk = bk

-- testRHS1: keys
SELECT k, cv, cg, g, bg FROM {c} JOIN (SELECT * FROM {a} JOIN {b} ON k = bk AND d <> bd) ON ck = k
AND ck <> 2

-- testRHS2: keys
SELECT k, cv, cg, g, bg FROM {c} JOIN (SELECT * FROM {a} JOIN {b} ON k = bk AND d <> bd) ON ck =
bk AND ck <> 2

-- testMultiRHS1: keys
SELECT k, cv, dk, cg, dg, g, bg FROM (SELECT k AS dk, max(g) AS dg FROM {t} WHERE id % 3 = 1 GROUP
BY k) JOIN (SELECT * FROM {c} JOIN (SELECT * FROM {a} JOIN {b} ON k = bk AND d <> bd) ON ck = bk
AND ck <> 2) ON dk = ck

-- testMultiRHS2: keys
SELECT k, cv, dk, cg, dg, g, bg FROM (SELECT k AS dk, max(g) AS dg FROM {t} WHERE id % 3 = 1 GROUP
BY k) JOIN (SELECT * FROM {c} JOIN (SELECT * FROM {a} JOIN {b} ON k = bk AND d <> bd) ON ck = bk
AND ck <> 2) ON dk = k

-- testMultiRHS3: keys
SELECT k, cv, dk, cg, dg, g, bg FROM (SELECT k AS dk, max(g) AS dg FROM {t} WHERE id % 3 = 1 GROUP
BY k) JOIN (SELECT * FROM {c} JOIN (SELECT * FROM {a} JOIN {b} ON k = bk AND d <> bd) ON ck = bk
AND ck <> 2) ON dk = bk

-- testBushy1: keys
SELECT k, cv, dk, cg, dg, g, bg FROM (SELECT * FROM {a} JOIN {b} ON k = bk AND d <> bd) JOIN
(SELECT * FROM {c} JOIN (SELECT k AS dk, max(g) AS dg FROM {t} WHERE id % 3 = 1 GROUP BY k) ON ck
= dk AND cv <> 5) ON ck = bk

-- testBushy2: keys
SELECT k, cv, dk, cg, dg, g, bg FROM (SELECT * FROM {a} JOIN {b} ON k = bk AND d <> bd) JOIN
(SELECT * FROM {c} JOIN (SELECT k AS dk, max(g) AS dg FROM {t} WHERE id % 3 = 1 GROUP BY k) ON ck
= dk AND cv <> 5) ON dk = k

-- testCalcExistsBothBetweenSourceAndJoinAndCascadedJoins: keys
SELECT k, cv, cg, trimmed, pair FROM (SELECT k, bk, trim(g) AS trimmed, concat_ws('~', g, bg) AS
pair FROM {a} JOIN {b} ON k = bk AND bd <> 1D) JOIN {c} ON ck = bk AND cv <> 6

-- testConsecutiveOneToManyJoins: keys
SELECT id, bid, cv, concat_ws('~', g, bg, cg) AS three FROM {a} JOIN {b} ON k = bk JOIN {c} ON ck
= bk

-- testJoinTwoTablesWhileJoinKeyChanged1: keys
SELECT id, bid, ck, concat_ws('~', g, bg, cg) AS three FROM {a} JOIN {b} ON g = bg JOIN {c} ON cv
= bv

-- testJoinTwoTablesWhileJoinKeyChanged2: keys
SELECT id, bid, ck, concat_ws('~', g, bg, cg) AS three FROM {a} JOIN {b} ON g = bg JOIN {c} ON v =
cv
