-- testLimit
-- later: LIMIT without ORDER BY
SELECT 1 FROM {t} LIMIT 4

-- testOffsetAndFetch
-- later: LIMIT without ORDER BY
SELECT 1 FROM {t} LIMIT 4 OFFSET 2

-- testWithoutFetch
-- later: OFFSET without LIMIT; Flink refuses it, too
SELECT 1 FROM {t} OFFSET 2
