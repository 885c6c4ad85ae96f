-- testFullVariantMatchesBatch: keys
SELECT id, k, g, bid, bg, cg, dg FROM {a} LEFT JOIN (SELECT bk, bid, bg, cg FROM {b} FULL JOIN {c}
ON bk = ck AND bv > cv - 5) ON k = bk AND v < 9 LEFT JOIN (SELECT k AS dk, max(g) AS dg FROM {t}
WHERE id % 3 = 1 GROUP BY k) ON k = dk

-- testLeftVariantMatchesBatch: keys
SELECT id, k, g, bid, bg, cg, dg FROM {a} LEFT JOIN (SELECT bk, bid, bg, cg FROM {b} LEFT JOIN {c}
ON bk = ck AND bv > cv - 5) ON k = bk AND v < 9 LEFT JOIN (SELECT k AS dk, max(g) AS dg FROM {t}
WHERE id % 3 = 1 GROUP BY k) ON k = dk
