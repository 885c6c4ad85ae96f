-- testCseCorrectness
SELECT point(k).x + 2, point(k).x + 3, point(k).x + 4 FROM {t}

-- testNoCseCandidates
SELECT point(k).x + 2, point(CAST(v AS INT)).x + 3 FROM {t}

-- testCseWithNullValues
SELECT NOT is_even(k), coalesce(is_even(k), false) FROM {t}

-- testCseWithNestedCommonSubExpressions
SELECT is_even(point(point(k).x).x), point(point(k).x).x + 1 FROM {t}
