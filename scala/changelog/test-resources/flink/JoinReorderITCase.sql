-- testJoinReorderWithFullOuterJoin
SELECT g, bg, cg, eg FROM {a} FULL JOIN {b} ON v = bv FULL JOIN {c} ON v = cv FULL JOIN (SELECT k
AS ek, v AS ev, g AS eg FROM {t} WHERE id % 3 = 1) ON cv = ev

-- testJoinReorderWithInnerAndFullOuterJoin
SELECT g, bg, cg, eg FROM {a} JOIN {b} ON v = bv FULL JOIN {c} ON v = cv JOIN (SELECT k AS ek, v
AS ev, g AS eg FROM {t} WHERE id % 3 = 1) ON v = ev

-- testJoinReorderWithInnerJoin
SELECT g, bg, cg, eg FROM {a} JOIN {b} ON v = bv JOIN {c} ON v = cv JOIN (SELECT k AS ek, v AS ev,
g AS eg FROM {t} WHERE id % 3 = 1) ON v = ev WHERE ek > 0 AND bk > 0

-- testJoinReorderWithLeftOuterJoin
SELECT g, bg, cg, eg FROM {a} LEFT JOIN {b} ON v = bv LEFT JOIN {c} ON v = cv LEFT JOIN (SELECT k
AS ek, v AS ev, g AS eg FROM {t} WHERE id % 3 = 1) ON v = ev WHERE k < 4

-- testJoinReorderWithInnerAndLeftOuterJoin
SELECT g, bg, cg, eg FROM {a} JOIN {b} ON v = bv LEFT JOIN {c} ON v = cv JOIN (SELECT k AS ek, v
AS ev, g AS eg FROM {t} WHERE id % 3 = 1) ON v = ev WHERE k < 3

-- testJoinReorderWithRightOuterJoin
SELECT g, bg, cg, eg FROM {a} RIGHT JOIN {b} ON v = bv JOIN {c} ON bv = cv JOIN (SELECT k AS ek, v
AS ev, g AS eg FROM {t} WHERE id % 3 = 1) ON cv = ev WHERE ck <= 2

-- testJoinReorderWithTrueCondition
SELECT g, bg, cg, eg FROM {a}, {b}, {c}, (SELECT k AS ek, v AS ev, g AS eg FROM {t} WHERE id % 3 =
1) WHERE k <= 1 AND bk <= 1 AND ck <= 1 AND ek <= 1

-- testJoinReorderWithInnerJoinAndTrueCondition
SELECT g, bg, cg, eg FROM (SELECT k AS ek, v AS ev, g AS eg FROM {t} WHERE id % 3 = 1), (SELECT *
FROM {b} JOIN {a} ON v = bv) AS x, {c} WHERE x.k <= 2 AND x.bk <= 3 AND ck <= 1 AND ek <= 1

-- testJoinReorderWithMixedJoinTypeAndCondition
SELECT g, bg, cg, eg FROM (SELECT k AS ek, v AS ev, g AS eg FROM {t} WHERE id % 3 = 1), (SELECT *
FROM {a} LEFT JOIN {b} ON v = bv JOIN {c} ON v = cv) AS x WHERE x.k <= 2 AND x.bk <= 3 AND x.ck <=
2 AND ek <= 1

-- testBusyTreeJoinReorder
SELECT y.g, y.bg, x.cg, x.eg FROM (SELECT * FROM (SELECT k AS ek, v AS ev, g AS eg FROM {t} WHERE
id % 3 = 1) JOIN {c} ON ev = cv) AS x JOIN (SELECT * FROM {b} JOIN {a} ON bv = v) AS y ON x.cv =
y.v

-- testBushyJoinReorderDpThreshold
SELECT g, bg, cg, eg FROM {a} JOIN {b} ON v = bv JOIN {c} ON v = cv JOIN (SELECT k AS ek, v AS ev,
g AS eg FROM {t} WHERE id % 3 = 1) ON v = ev WHERE ek > 1 AND bk > 1
