-- testIntersect
SELECT k, v, g FROM {a} INTERSECT SELECT bk, bv, bg FROM {b}

-- testExcept
SELECT g FROM {a} EXCEPT SELECT bg FROM {b}

-- testIntersectAll
SELECT k FROM {a} INTERSECT ALL SELECT bk FROM {b}

-- testMinusAll
SELECT g FROM ((SELECT k, g FROM {a} UNION ALL SELECT k, g FROM {a} UNION ALL SELECT k, g FROM
{a}) EXCEPT ALL SELECT bk, bg FROM {b})
