-- testTwoWayInnerJoinWithEqualPk
SELECT k, bk FROM {sumA} JOIN {sumB} ON k = bk

-- testThreeWayInnerJoinMatchingBooleans
SELECT id, bid, cv FROM (SELECT id, v > 2 AS big FROM {a}) JOIN (SELECT bid, bv > 2 AS huge FROM
{b}) ON big = huge JOIN (SELECT cv, cv > 2 AS vast FROM {c}) ON huge = vast

-- testThreeWayInnerJoinMatchingBooleansNoCommonJoinKey
SELECT id, bid, cv FROM (SELECT id, v > 2 AS big FROM {a}) JOIN (SELECT bid, bv > 2 AS huge FROM
{b}) ON big = true JOIN (SELECT cv, cv > 2 AS vast FROM {c}) ON huge = false

-- testThreeWayInnerJoinMatchingBooleansV2
SELECT id, bid, cv FROM (SELECT id, v > 2 AS big FROM {a}) JOIN (SELECT bid, bv > 2 AS huge FROM
{b}) ON big = true JOIN (SELECT cv, cv > 2 AS vast FROM {c}) ON huge = true AND vast = true

-- testThreeWayInnerJoinNestedType
SELECT id, bid, cv FROM (SELECT id, named_struct('n', k, 's', g) AS p FROM {a}) JOIN (SELECT bid,
named_struct('n', bk, 's', bg) AS q FROM {b}) ON p = q JOIN (SELECT cv, named_struct('n', ck, 's',
if(ck = 1, 'tea', cg)) AS r FROM {c}) ON q = r

-- testThreeWayInnerJoin
SELECT k, g, bid, cv FROM {a} JOIN {b} ON k = bk JOIN {c} ON bk = ck

-- testThreeWayLeftInnerJoin
SELECT k, g, bid, cv FROM {a} LEFT JOIN {b} ON k = bk JOIN {c} ON bk = ck

-- testThreeWayLeftLeftJoin
SELECT k, g, bid, cv FROM {a} LEFT JOIN {b} ON k = bk LEFT JOIN {c} ON bk = ck

-- testThreeWayInnerLeftJoin
SELECT k, g, bid, cv FROM {a} JOIN {b} ON k = bk LEFT JOIN {c} ON bk = ck

-- testThreeWayInnerJoinWithIsNotDistinct
SELECT k, g, bid, cv FROM {a} JOIN {b} ON k IS NOT DISTINCT FROM bk JOIN {c} ON bk IS NOT DISTINCT
FROM ck

-- testThreeWayInnerJoinNoCommonJoinKey
SELECT k, g, bid, cv FROM {a} JOIN {b} ON k = bk JOIN {c} ON v = cv

-- testThreeWayLeftInnerJoinNoCommonJoinKey
SELECT k, g, bid, cv FROM {a} LEFT JOIN {b} ON k = bk JOIN {c} ON v = cv

-- testThreeWayLeftLeftJoinNoCommonJoinKey
SELECT k, g, bid, cv FROM {a} LEFT JOIN {b} ON k = bk LEFT JOIN {c} ON v = cv

-- testThreeWayInnerLeftJoinNoCommonJoinKey
SELECT k, g, bid, cv FROM {a} JOIN {b} ON k = bk LEFT JOIN {c} ON v = cv

-- testThreeWayInnerJoinWithWhere
SELECT k, g, bid, cv FROM {a}, {b}, {c} WHERE k = bk AND bk = ck

-- testThreeWayInnerJoinWithOr
SELECT k, g, bid, cv FROM {a} JOIN {b} ON k = bk JOIN {c} ON bk = ck OR cv = v

-- testThreeWayLeftInnerJoinWithOr
SELECT k, g, bid, cv FROM {a} LEFT JOIN {b} ON k = bk JOIN {c} ON bk = ck OR cv = v

-- testThreeWayLeftLeftJoinWithOr
SELECT k, g, bid, cv FROM {a} LEFT JOIN {b} ON k = bk LEFT JOIN {c} ON bk = ck OR cv = v

-- testThreeWayInnerLeftJoinWithOr
SELECT k, g, bid, cv FROM {a} JOIN {b} ON k = bk LEFT JOIN {c} ON bk = ck OR cv = v

-- testThreeWayInnerJoinComplexCondition
SELECT k, g, bid, cv FROM {a} JOIN {b} ON k = bk AND v >= 1 JOIN {c} ON bk = ck AND cv < v AND cv
< 6

-- testThreeWayLeftInnerJoinComplexCondition
SELECT k, g, bid, cv FROM {a} LEFT JOIN {b} ON k = bk AND v >= 1 JOIN {c} ON bk = ck AND cv < v
AND cv < 6

-- testThreeWayLeftLeftJoinComplexCondition
SELECT k, g, bid, cv FROM {a} LEFT JOIN {b} ON k = bk AND v >= 1 LEFT JOIN {c} ON bk = ck AND cv <
v AND cv < 6

-- testThreeWayInnerLeftJoinComplexCondition
SELECT k, g, bid, cv FROM {a} JOIN {b} ON k = bk AND v >= 1 LEFT JOIN {c} ON bk = ck AND cv < v
AND cv < 6

-- testThreeWayInnerJoinComplexConditionV2
SELECT k, g, bid, cv FROM {a} JOIN {b} ON k = bk AND v >= 1 JOIN {c} ON cv = v AND (bk = ck OR g =
'cocoa')

-- testThreeWayLeftInnerJoinComplexConditionV2
SELECT k, g, bid, cv FROM {a} LEFT JOIN {b} ON k = bk AND v >= 1 JOIN {c} ON cv = v AND (bk = ck
OR g = 'cocoa')

-- testThreeWayLeftLeftJoinComplexConditionV2
SELECT k, g, bid, cv FROM {a} LEFT JOIN {b} ON k = bk AND v >= 1 LEFT JOIN {c} ON cv = v AND (bk =
ck OR g = 'cocoa')

-- testThreeWayInnerLeftJoinComplexConditionV2
SELECT k, g, bid, cv FROM {a} JOIN {b} ON k = bk AND v >= 1 LEFT JOIN {c} ON cv = v AND (bk = ck
OR g = 'cocoa')

-- testThreeWayInnerJoinConstantCondition
SELECT k, g, bid, cv FROM {a} JOIN {b} ON true JOIN {c} ON bk = ck AND cv = v AND cv < 6

-- testThreeWayLeftInnerJoinConstantCondition
SELECT k, g, bid, cv FROM {a} LEFT JOIN {b} ON true JOIN {c} ON bk = ck AND cv = v AND cv < 6

-- testThreeWayLeftLeftJoinConstantCondition
SELECT k, g, bid, cv FROM {a} LEFT JOIN {b} ON true LEFT JOIN {c} ON bk = ck AND cv = v AND cv < 6

-- testThreeWayInnerLeftJoinConstantCondition
SELECT k, g, bid, cv FROM {a} JOIN {b} ON true LEFT JOIN {c} ON bk = ck AND cv = v AND cv < 6
