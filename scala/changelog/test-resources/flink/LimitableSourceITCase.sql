-- testLimit
SELECT 'x' FROM {a} LIMIT 4

-- testOffsetAndFetch
SELECT 'x' FROM {a} LIMIT 4 OFFSET 2
