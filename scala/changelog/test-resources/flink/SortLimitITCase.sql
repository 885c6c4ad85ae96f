-- test
SELECT * FROM {a} ORDER BY v DESC, k, g, id LIMIT 2

-- testRetractSortLimit
SELECT k, max(v) FROM {t} GROUP BY k ORDER BY k LIMIT 2

-- testRetractSortLimitWithOffset
SELECT k, max(v) FROM {t} GROUP BY k ORDER BY k LIMIT 2 OFFSET 1
