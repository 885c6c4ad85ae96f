-- testDisableSortNonTemporalField
-- later: ORDER BY without LIMIT
SELECT * FROM {a} ORDER BY v

-- testSort
-- later: ORDER BY without LIMIT
SELECT * FROM {a} ORDER BY g

-- testSortOrderByDesc
-- later: ORDER BY without LIMIT
SELECT * FROM {a} ORDER BY g DESC

-- testSortOrderByMultipleFields
-- later: ORDER BY without LIMIT
SELECT * FROM {a} ORDER BY g, v

-- testSortOrderByRepeatedFields
-- later: ORDER BY without LIMIT
SELECT * FROM {a} ORDER BY g, g

-- testSortOrderByWithRetract
-- later: ORDER BY without LIMIT
SELECT k, count(*) AS n FROM {t} GROUP BY k ORDER BY n

-- testSortWithWhere
-- later: ORDER BY without LIMIT
SELECT * FROM {a} WHERE v < (SELECT min(v * 3) FROM {a}) ORDER BY v DESC
