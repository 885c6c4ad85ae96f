-- testSimplePartitionFieldPredicate1
SELECT * FROM (SELECT id, g AS part, v AS part2, v + 1 AS more FROM {t}) WHERE part = 'tea'

-- testPartialPartitionFieldPredicatePushDown
SELECT * FROM (SELECT id, g AS part, v AS part2, v + 1 AS more FROM {t}) WHERE (id > 102 OR part =
'tea') AND part2 > 1

-- testUnconvertedExpression
SELECT * FROM (SELECT id, g AS part, v AS part2, v + 1 AS more FROM {t}) WHERE trim(part) = 'tea'
AND part2 > 1

-- testPushDownPartitionAndFiltersContainPartitionKeys
SELECT * FROM (SELECT id, g AS part, v AS part2, v + 1 AS more FROM {t}) WHERE part = 'tea' AND id
> 1

-- testPushDownPartitionAndFiltersContainPartitionKeysWithSingleProjection
SELECT more FROM (SELECT id, g AS part, v AS part2, v + 1 AS more FROM {t}) WHERE part = 'tea' AND
id > 1
