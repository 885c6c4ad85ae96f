-- testLeftJoinUpsertInputsIntoUpsertSinkWithSamePk: keys
SELECT id, g, bw FROM {a} LEFT JOIN (SELECT bid - 100 AS rid, bw FROM {b}) ON id = rid

-- testNestedLeftJoinsUpsertInputsIntoUpsertSinkOnLeftPk: keys
SELECT id, g, bg, other, n FROM {a} LEFT JOIN (SELECT bid, bg, other FROM {b} LEFT JOIN (SELECT id
AS oid, g AS other FROM {t} WHERE id > 199) ON bid + 100 = oid) ON id + 100 = bid LEFT JOIN
(SELECT k AS dk, count(*) AS n FROM {t} GROUP BY k) ON k = dk

-- testLeftJoinUpsertInputsIntoUpsertSinkWithLargerPk: keys
SELECT id, v, bg, bw FROM {a} LEFT JOIN (SELECT bid - 100 AS rid, bg, bw FROM {b}) ON id = rid
