-- testLimit
SELECT 1 FROM {t} LIMIT 4

-- testOffsetAndFetch
SELECT 1 FROM {t} LIMIT 4 OFFSET 2

-- testWithoutFetch
SELECT 1 FROM {t} OFFSET 2
