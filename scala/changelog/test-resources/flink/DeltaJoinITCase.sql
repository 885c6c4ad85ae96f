-- testJoinKeyEqualsIndex
SELECT d, k, id, bk, bd, bid FROM {a} JOIN {b} ON d = bd

-- testJoinKeyContainsIndex
SELECT d, k, id, bk, bd, bid FROM {a} JOIN {b} ON d = bd AND k = bk

-- testSameJoinKeyColValuesWhileJoinKeyEqualsIndex
SELECT d, k, id, bk, bd, bid FROM {a} JOIN {b} ON k = bk

-- testSameJoinKeyColValuesWhileJoinKeyContainsIndex
SELECT d, k, id, bk, bd, bid FROM {a} JOIN {b} ON k = bk AND g = bg

-- testWithNonEquiCondition1
SELECT d, k, id, bk, bd, bid FROM {a} JOIN {b} ON k = bk AND d = bd AND timestamp_seconds(id + 99)
> timestamp_seconds(bid)

-- testWithNonEquiCondition2
SELECT d, k, id, bk, bd, bid FROM {a} JOIN {b} ON k = bk AND d = bd AND timestamp_seconds(id) >
timestamp_seconds(2);
SELECT d, k, id, bk, bd, bid FROM {a} JOIN {b} ON k = bk AND bd > 1

-- testFilterProjectBeforeJoin
SELECT * FROM (SELECT k, id FROM {a} WHERE timestamp_seconds(id) > timestamp_seconds(1)) JOIN
(SELECT bk, bid FROM {b} WHERE bk < 3) ON k = bk;
SELECT * FROM (SELECT k, id FROM {a} WHERE d > 1) JOIN (SELECT bk, bid FROM {b} WHERE bk < 4) ON k
= bk

-- testFilterProjectBeforeJoinWithFilterPushDownIntoSource
SELECT * FROM (SELECT k, id FROM {a} WHERE id > 2) JOIN (SELECT bk, bid FROM {b} WHERE bk < 4) ON
k = bk;
SELECT * FROM (SELECT k, id FROM {a} WHERE d > 2) JOIN (SELECT bk, bid FROM {b} WHERE bk < 5) ON k
= bk

-- testPartitionPushDownIntoSource
SELECT * FROM (SELECT k, d FROM {a} WHERE d = 1.5D OR d = 2.5D) JOIN (SELECT bd, bk FROM {b} WHERE
bd = -1D OR bd = 2.5D) ON k = bk

-- testCdcSourceWithoutDelete: keys
SELECT d, k, id, bk, bd, bid FROM {a} JOIN {b} ON id + 100 = bid

-- testFilterFieldsAfterJoin
SELECT d, k, id, bk, bd, bid FROM {a} JOIN {b} ON k = bk WHERE d <> bd

-- testFilterFieldsAfterJoinWithCdcSourceWithoutDelete: keys
SELECT d, k, id, bk, bd, bid FROM {a} JOIN {b} ON k = bk WHERE d < bk

-- testFilterProjectBeforeJoinWithCdcSourceWithoutDelete: keys
SELECT * FROM (SELECT d, id, k FROM {a} WHERE d <> 2.5D) JOIN (SELECT bd, bk FROM {b}) ON k = bk;
SELECT * FROM (SELECT k, id, d FROM {a}) JOIN (SELECT bd, bk FROM {b} WHERE bk <> 2) ON k = bk

-- testFilterProjectBeforeJoinWithCdcSourceWithoutDeleteAndFilterPushDownIntoSource: keys
SELECT * FROM (SELECT d, id, k FROM {a} WHERE d <> 1.5D) JOIN (SELECT bd, bk FROM {b}) ON k = bk;
SELECT * FROM (SELECT k, id, d FROM {a}) JOIN (SELECT bd, bk FROM {b} WHERE bk <> 1) ON k = bk

-- testPartitionPushDownIntoCdcSourceWithoutDelete: keys
SELECT * FROM (SELECT d, id, k FROM {a} WHERE d = 1.5D OR d = 0D) JOIN (SELECT bd, bk FROM {b}
WHERE bd = 0D OR bd = -1D) ON k = bk

-- testProjectFieldsAfterJoin
SELECT d, k + 1, id, bk + 2, bd, bid FROM {a} JOIN {b} ON k = bk

-- testFailOverAndRestore
SELECT * FROM {a} JOIN {b} ON k = bk AND d = bd
