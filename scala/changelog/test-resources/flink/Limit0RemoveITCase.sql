-- testSimpleLimitRemove
SELECT * FROM {a} LIMIT 0

-- testLimitRemoveWithOrderBy
SELECT * FROM {a} ORDER BY v LIMIT 0

-- testLimitRemoveWithSelect
SELECT n FROM (SELECT CAST(v AS INT) AS n FROM {a} LIMIT 0)

-- testLimitRemoveWithIn
SELECT * FROM {a} WHERE k IN (SELECT bk FROM {b} LIMIT 0)

-- testLimitRemoveWithNotIn
SELECT * FROM {a} WHERE k NOT IN (SELECT bk FROM {b} LIMIT 0)

-- testLimitRemoveWithExists
SELECT * FROM {a} WHERE EXISTS (SELECT bk FROM {b} LIMIT 0)

-- testLimitRemoveWithNotExists
SELECT * FROM {a} WHERE NOT EXISTS (SELECT bk FROM {b} LIMIT 0)

-- testLimitRemoveWithJoin
SELECT k FROM {a} JOIN (SELECT bk FROM {b} LIMIT 0) ON true
