-- testDisableSortNonTemporalField
SELECT * FROM {a} ORDER BY v

-- testSort
SELECT * FROM {a} ORDER BY g

-- testSortOrderByDesc
SELECT * FROM {a} ORDER BY g DESC

-- testSortOrderByMultipleFields
SELECT * FROM {a} ORDER BY g, v

-- testSortOrderByRepeatedFields
SELECT * FROM {a} ORDER BY g, g

-- testSortOrderByWithRetract
SELECT k, count(*) AS n FROM {t} GROUP BY k ORDER BY n

-- testSortWithWhere
SELECT * FROM {a} WHERE v < (SELECT min(v * 3) FROM {a}) ORDER BY v DESC
