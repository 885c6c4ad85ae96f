-- testToRetractStream: retractions
SELECT id, g, k, w, w * 2 AS twice FROM {t}

-- testToUpsertSink: keys
SELECT id, g, k, w, w * 2 AS twice FROM {t}

-- testAggregate: retractions
SELECT count(*), sum(w), max(g) FROM {t}

-- testAggregateToUpsertSink: keys
SELECT 'all' AS scope, count(*), sum(w), max(g) FROM {t} GROUP BY 'all'

-- testGroupByNonPrimaryKey: keys
SELECT twice, count(*), max(g) FROM (SELECT *, w * 2 AS twice FROM {t}) GROUP BY twice

-- testFilter: keys
SELECT id, g, k, w, w * 2 AS twice FROM {t} WHERE v > 5

-- testRegularJoin: keys
SELECT g, v, rate, v * rate FROM {a} JOIN (SELECT bk, bv AS rate FROM {b}) ON k = bk
