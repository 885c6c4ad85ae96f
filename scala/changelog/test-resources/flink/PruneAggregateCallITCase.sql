-- testNoneEmptyGroupKey
SELECT m FROM (SELECT v, max(k) AS m, count(*), max(g) FROM {t} GROUP BY v);
SELECT g, k FROM (SELECT k, g, count(v) AS n, sum(v) AS s FROM {t} GROUP BY k, g) WHERE s > 2

-- testEmptyGroupKey
SELECT 1 FROM (SELECT sum(k) FROM {t});
SELECT * FROM {a} WHERE EXISTS (SELECT count(*) FROM {b});
SELECT 1 FROM (SELECT sum(k), count(*) FROM {t});
SELECT * FROM {a} WHERE EXISTS (SELECT sum(bk), count(*) FROM {b});
SELECT 1 FROM (SELECT count(*), sum(k) FROM {t});
SELECT * FROM {a} WHERE EXISTS (SELECT count(*), sum(bk) FROM {b})
