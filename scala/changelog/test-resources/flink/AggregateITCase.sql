-- testEmptyInputAggregation
SELECT sum(v), avg(v), min(v), count(v), count(1) FROM {a} WHERE v > 9999 GROUP BY k

-- testMaxAggRetractWithCondition
SELECT max(v) FROM (SELECT k, count(*) AS n, v FROM {t} GROUP BY k, v) WHERE n > 0 AND n < 2

-- testMinAggRetractWithCondition
SELECT min(v) FROM (SELECT k, count(*) AS n, v FROM {t} GROUP BY k, v) WHERE n < 2

-- testShufflePojo
SELECT sum(v), avg(v), min(v), count(v), count(1) FROM {a} GROUP BY point(k)

-- testEmptyInputAggregationWithoutGroupBy
SELECT sum(v), avg(v), min(v), count(v), count(1) FROM {a} WHERE v > 9999

-- testAggregationWithoutWatermark
SELECT sum(v), avg(v), min(v), count(v), count(1) FROM {a}

-- testDistinctGroupBy
SELECT k, sum(DISTINCT v * 3), count(DISTINCT substring(g, 1, 2)), count(DISTINCT g) FROM {t}
GROUP BY k

-- testCountDistinct
SELECT k, count(DISTINCT timestamp_seconds(v)), count(DISTINCT date_from_unix_date(v)),
count(DISTINCT make_dt_interval(0, v)), count(DISTINCT w), count(DISTINCT CAST(v AS INT)),
count(DISTINCT v), count(DISTINCT g) FROM {t} GROUP BY k

-- testDistinctWithRetract
SELECT count(DISTINCT n), sum(DISTINCT n), max(DISTINCT n), min(DISTINCT n), avg(DISTINCT n),
count(DISTINCT m) FROM (SELECT k, count(v) AS n, max(v) AS m FROM {t} GROUP BY k)

-- testDistinctAggregateMoreThan64
SELECT {100 times: count(DISTINCT v) FILTER (WHERE i = #)} FROM {t} LATERAL VIEW
explode(sequence(0, 10 * v)) AS i

-- testDistinctAggWithNullValues
SELECT k, count(*), nulls_and_others(DISTINCT g) FROM {t} GROUP BY k

-- testPrecisionForSumAggregationOnDecimal
SELECT sum(CAST(2.70481516 AS DECIMAL(32, 8))), sum(CAST(98765.0432101234 AS DECIMAL(30, 20))),
sum(CAST(w AS DECIMAL(25, 22))), sum(CAST(w AS DECIMAL(32, 8))) FROM {t} WHERE w < 100

-- testPrecisionForSumWithRetractAggregationOnDecimal: retractions
SELECT sum(CAST(w AS DECIMAL(32, 8))), sum(CAST(w AS DECIMAL(32, 20)) / 7) FROM {t} WHERE w < 100
GROUP BY g

-- testPrecisionForAvgAggregationOnDecimal
SELECT avg(CAST(2.70481516 AS DECIMAL(32, 8))), avg(CAST(98765.0432101234 AS DECIMAL(30, 20))),
avg(CAST(w AS DECIMAL(25, 22))), avg(CAST(w AS DECIMAL(32, 8))) FROM {t} WHERE w < 100

-- testGroupByAgg
SELECT k, count(g), sum(v) FROM {t} GROUP BY k

-- testCountWithNullableIfCall
SELECT k, count(1), count(if(g IN ('tea', 'milk'), null, 1)), count(if(g NOT IN ('tea', 'milk'),
1, null)) FROM {t} GROUP BY k

-- testNestedGroupByAgg
SELECT sum(k), count(s), max(s), min(s), n FROM (SELECT k, count(g) AS n, sum(v) AS s FROM {t}
GROUP BY k) GROUP BY n

-- testUnboundedGroupBy
SELECT v, count(k) FROM {t} GROUP BY v

-- testWindowWithUnboundedAgg
SELECT c, max(k), count(DISTINCT n) FROM (SELECT k, sum(DISTINCT v) AS s, min(DISTINCT v) AS c,
count(DISTINCT v) AS n FROM (SELECT *, timestamp_seconds(id) AS at FROM {t}) GROUP BY k,
window(at, '5 seconds')) GROUP BY c

-- testListAggWithRetraction
SELECT k, '[' || listagg(concat_ws('=', g, n), ';') WITHIN GROUP (ORDER BY concat_ws('=', g, n))
|| ']', '[' || listagg(concat_ws('=', g, n)) WITHIN GROUP (ORDER BY concat_ws('=', g, n)) || ']'
FROM (SELECT k, g, CAST(count(1) AS STRING) AS n FROM {t} GROUP BY k, g) GROUP BY k

-- testListAggWithNullData
SELECT k, listagg(if(k > 9, g, null), '#') FROM {t} GROUP BY k

-- testListAggWithoutDelimiterTreatNull
SELECT k, listagg(if(k > 9, g, null)) FROM {t} GROUP BY k

-- testListAggWithDistinct
SELECT k, listagg(DISTINCT g, '#') WITHIN GROUP (ORDER BY g) FROM {t} GROUP BY k

-- testUnboundedGroupByCollect
SELECT v, sort_array(collect_list(k)) FROM {t} GROUP BY v

-- testUnboundedGroupByCollectWithObject
SELECT k, sort_array(collect_list(struct(v, g))) FROM {t} GROUP BY k

-- testGroupBySingleValue
SELECT * FROM {a} WHERE v < (SELECT count(*) * 0.4 FROM {t});
SELECT * FROM {b} WHERE bg = (SELECT g FROM {a} WHERE id = 7)

-- testPojoField
SELECT farthest(k, v).y FROM {a} GROUP BY g

-- testDecimalSum
SELECT n, sum(w) FROM (SELECT w, count(w) AS n FROM {t} WHERE w < 100 GROUP BY w) GROUP BY n

-- testDifferentTypesSumWithRetract: retractions
SELECT sum(CAST(v AS TINYINT)), sum(CAST(v AS SMALLINT)), sum(CAST(v AS INT)), sum(v), sum(CAST(v
AS FLOAT)), sum(CAST(v AS DOUBLE)) FROM {t} GROUP BY g

-- testAggAfterUnion
SELECT k, sum(v), count(DISTINCT g) FROM (SELECT k, v, g FROM {a} UNION ALL SELECT bk, bv, bg FROM
{b}) GROUP BY k

-- testVarArgsNoGroupBy
SELECT sum_all(array(v, length(g), id)) FROM {a}

-- testVarArgsWithGroupBy
SELECT k, sum_all(array(v, length(g), id)) FROM {a} GROUP BY k

-- testMinMaxWithBinaryString
SELECT k, min(c), max(c) FROM (SELECT k, v, listagg(g) WITHIN GROUP (ORDER BY g) AS c FROM {t}
GROUP BY k, v) GROUP BY k

-- testBigDataOfMinMaxWithBinaryString
SELECT k, min(v + i), max(g || i), min(g || i) FROM {t} LATERAL VIEW explode(sequence(1, 100)) AS
i GROUP BY k

-- testAggWithFilterClause
SELECT k, sum(v) FILTER (WHERE g = 'tea'), count(DISTINCT g) FILTER (WHERE (v > 1) IS TRUE),
max(v) FROM {t} GROUP BY k

-- testMinMaxWithDecimal
SELECT n, min(w), max(w) FROM (SELECT w, count(w) AS n FROM {t} GROUP BY w) GROUP BY n

-- testMinMaxWithChar
SELECT k, count(*), min(CAST(g AS CHAR(5))), max(CAST(g AS CHAR(5))) FROM {t} GROUP BY k

-- testRetractMinMaxWithChar: retractions
SELECT k, count(*), min(CAST(g AS CHAR(5))), max(CAST(g AS CHAR(5))) FROM {t} GROUP BY k

-- testCollectOnClusteredFields
-- later: uuid() of a row that may be retracted
SELECT k, v, collect_list(struct(p.g, 'x', p.id)) FROM (SELECT k, v, uuid() AS u, p FROM (SELECT
k, v, sort_array(collect_list(struct(g, id))) AS points FROM {a} GROUP BY k, v) LATERAL VIEW
explode(points) AS p) GROUP BY k, v, u

-- testListAgg
SELECT listagg(g), listagg(g, '-'), listagg(g, '+') FROM {t} GROUP BY g

-- testUserDefinedObjectAgg
SELECT k, max(p.y) FROM (SELECT k, farthest(k, v) AS p FROM {a} GROUP BY k) GROUP BY k

-- testSTDDEV
SELECT stddev_samp(v), stddev_pop(v) FROM {t} GROUP BY g

-- testVAR_POP
SELECT var_pop(v) FROM {t} GROUP BY g

-- testLongVarargsAgg
SELECT k, sum_all(array({260 times: v})) FROM {a} GROUP BY k

-- testCountDistinctWithBinaryRowSource
SELECT k, g, count(DISTINCT v) FROM (SELECT k, g, v FROM {t} WHERE g <> '' UNION ALL SELECT k,
'all' AS g, v FROM {t} WHERE g <> '') GROUP BY k, g

-- testDistinctWithMultiFilter
SELECT k, sum(DISTINCT v * 3), count(DISTINCT substring(g, 1, 2)), count(DISTINCT g),
count(DISTINCT g) FILTER (WHERE v % 3 = 0), count(DISTINCT g) FILTER (WHERE v % 3 = 1) FROM {t}
GROUP BY k

-- testPruneUselessAggCall
SELECT m FROM (SELECT k, max(v) AS m, count(*), max(g) AS g FROM {t} GROUP BY k)

-- testGenericTypesWithoutStateClean
SELECT nulls_and_others(g) FROM {a}

-- testConstantGroupKeyWithUpsertSink: upserts
SELECT g, max(v) FROM (SELECT v, g, true AS f FROM {a}) GROUP BY g, f

-- testAggregationCodeSplit
SELECT {47 times: sum(CASE WHEN v IS NOT NULL AND v > # THEN 0 WHEN v < 0 THEN 0 ELSE # END)} FROM
{a} GROUP BY k, g

-- testOverloadedAccumulator
SELECT g, max(v) FROM {a} GROUP BY g;
SELECT v, max(g) FROM {a} GROUP BY v

-- testCoalesceOnGroupingSets
SELECT g, v, coalesce(k, -1), count(*) FROM {t} GROUP BY GROUPING SETS ((g, v), (g, v, k))

-- testBooleanColumnOnGroupingSets
SELECT g, v, big, count(*) FROM (SELECT *, v > 2 AS big FROM {t}) GROUP BY GROUPING SETS ((v), (g,
v, big))

-- testGroupByArrayType
SELECT b, sum(id) FROM (SELECT id, array(k, v) AS b FROM {t}) GROUP BY b

-- testDistinctArrayType
SELECT DISTINCT array(k, v) FROM {t}

-- testCountDistinctArrayType
SELECT g, count(DISTINCT array(k, v)) FROM {t} GROUP BY g

-- testCountStar
SELECT count(*) FROM (SELECT *, current_timestamp() AS at FROM {t})

-- testLagAggFunction
SELECT lag(v, 1, null) OVER w, lag(v) OVER w FROM {t} WINDOW w AS (ORDER BY id, v)

-- testJsonArrayAggAndJsonObjectAggWithOtherAggs
SELECT max(k), to_json(map_from_entries(sort_array(collect_set(struct(coalesce(g, '-') || id,
k))))), to_json(sort_array(collect_list(k))), to_json(sort_array(collect_list(g))) FROM {t} WHERE
k <= 3

-- testGroupJsonArrayAggAndJsonObjectAggWithOtherAggs
SELECT k, to_json(map_from_entries(sort_array(collect_set(struct(coalesce(g, '-') || id, k))))),
to_json(sort_array(collect_list(g))), to_json(sort_array(collect_list(v))), max(v) FROM {t} WHERE
k <= 3 GROUP BY k
