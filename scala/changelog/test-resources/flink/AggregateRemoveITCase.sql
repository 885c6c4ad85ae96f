-- testSimple: keys
SELECT id, k FROM {t} GROUP BY id, k;
SELECT id, lo + 1, hi, s FROM (SELECT id, min(v) AS lo, sum(v) AS s, max(g) AS hi FROM {t} GROUP
BY id);
SELECT id, sum(v) AS s FROM {t} GROUP BY id;
SELECT k, lo + 1, s FROM (SELECT k, min(v) AS lo, sum(v) AS s FROM {sumA} GROUP BY k)

-- testWithGroupingSets: keys
SELECT id, k, g, count(d) FROM {t} GROUP BY GROUPING SETS ((id, k), (id, g));
SELECT id, g, count(d) FROM {t} GROUP BY GROUPING SETS ((id, g), (id), ());
SELECT id, k, g, count(d) FROM {t} GROUP BY GROUPING SETS ((id, k, g), (id, k, d))

-- testWithRollup: keys
SELECT id, k, g, count(d) FROM {t} GROUP BY ROLLUP (id, k, g)

-- testWithCube: keys
SELECT id, k, g, count(d) FROM {t} GROUP BY CUBE (id, k, g);
SELECT k, g, v, sum(id), max(w) FROM {t} GROUP BY CUBE (k, g, v)

-- testSingleDistinctAgg: keys
SELECT id, count(DISTINCT g) FROM {t} GROUP BY id;
SELECT id, k, count(DISTINCT g) FROM {t} GROUP BY id, k;
SELECT id, k, count(DISTINCT g), count(DISTINCT d) FROM {t} GROUP BY id, k

-- testSingleDistinctAgg_WithNonDistinctAgg: keys
SELECT id, count(DISTINCT g), sum(v) FROM {t} GROUP BY id;
SELECT id, g, count(DISTINCT g), sum(v) FROM {t} GROUP BY id, g;
SELECT id, w, count(DISTINCT g), sum(v) FROM {t} GROUP BY id, w

-- testMultiDistinctAggs: keys
SELECT id, count(DISTINCT v), sum(DISTINCT v) FROM {t} GROUP BY id;
SELECT id, d, count(DISTINCT g), sum(DISTINCT v) FROM {t} GROUP BY id, d;
SELECT id, sum(DISTINCT v), max(DISTINCT v), min(DISTINCT g) FROM {t} GROUP BY id;
SELECT id, w, count(DISTINCT g), max(DISTINCT v), sum(v) FROM {t} GROUP BY id, w

-- testAggregateRemove
SELECT sum(v) FROM (SELECT v FROM (SELECT v, sum(s) FROM (SELECT v, sum(k) AS s FROM {t} GROUP BY
v) GROUP BY v))
