-- testSelectWithLegacyCastIntToDate
SELECT CASE WHEN v > 1 THEN date_from_unix_date(CAST(v AS INT)) ELSE DATE'2020-02-29' END FROM {a}

-- testCastNumericToBooleanInCondition
SELECT k, v FROM {a} WHERE (v > 1) = CAST(1 AS BOOLEAN) UNION ALL SELECT k, v FROM {a} WHERE (v >
1) = CAST(0 AS BOOLEAN)

-- testGenericRowAndRowData
SELECT * FROM {t}

-- testRowAndRowData
SELECT * FROM {t} WHERE v < 3

-- testGenericRowAndRow
SELECT * FROM {a}

-- testRowAndRow
SELECT * FROM {a} WHERE v < 3

-- testPrimitiveMapType
SELECT map(v, 30, 20, k) FROM {a}

-- testNonPrimitiveMapType
SELECT map(id, g) FROM {a}

-- testSelectStarFromNestedTable
SELECT * FROM (SELECT struct(k, v), g FROM {a})

-- testIn
SELECT * FROM {t} WHERE v IN (1, 4, 5, 6, 7)

-- testNotIn
SELECT * FROM {t} WHERE v NOT IN (1, 4, 5, 6, 7)

-- testLongProjectionList
SELECT {197 times: CASE WHEN k IS NOT NULL AND k > # THEN 0 WHEN k < 0 THEN 0 ELSE # END} FROM {a}

-- testIfFunction
SELECT if(k > 2, 'yes', 'no'), k FROM {t}

-- testSourceWithCustomInternalData
SELECT v, m FROM (SELECT v, map(v, id) AS m FROM {a})

-- testSimpleProject
SELECT k, g FROM {a}

-- testNestedProject
SELECT id, deep.one.s AS s, flat.n AS n, deep.two.f AS f, deep.two.m AS m FROM (SELECT id,
named_struct('one', named_struct('s', g, 'n', v), 'two', named_struct('m', k, 'f', v > 1)) AS
deep, named_struct('s', 'x', 'n', d) AS flat FROM {a})

-- testDecimalArrayWithDifferentPrecision
SELECT array(0.25, 0.5, 1.125) FROM {a}

-- testDecimalMapWithDifferentPrecision
SELECT map('x', 0.25, 'y', 0.5) FROM {a}

-- testSearch
SELECT upper(g) FROM {t} WHERE upper(g) IN ('TEA', 'Milk', 'RYE', 'MILK ', 'WATER', 'BARLEY,OATS',
'BEER', 'WINE', 'CIDER', 'MEAD', 'PORT', 'GIN')

-- testMultipleCoalesces
SELECT coalesce(1), coalesce(1, 2), coalesce(CAST(NULL AS INT), 2), coalesce(1, CAST(NULL AS
INT)), coalesce(CAST(NULL AS INT), CAST(NULL AS INT), k), coalesce(k, CAST(NULL AS INT), CAST(NULL
AS INT), 4), coalesce('x'), coalesce('x', 'y'), coalesce(CAST(NULL AS STRING), 'y'), coalesce(g,
CAST(NULL AS STRING)), coalesce(CAST(NULL AS STRING), CAST(NULL AS STRING), g), coalesce(1.5),
coalesce(1.5, 2), coalesce(CAST(NULL AS DOUBLE), 2.5), coalesce(CAST(NULL AS DOUBLE), d, 3.5),
coalesce(2.5, CAST(NULL AS DOUBLE), 3.5), coalesce(CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE))
FROM {a}

-- testCurrentDatabase
SELECT k, current_database() FROM {a}

-- testLikeWithConditionContainsDoubleQuotationMark
SELECT * FROM (SELECT k, concat(g, if(v > 1, '"', ''), 'x') AS s FROM {a}) WHERE s LIKE '%"%'

-- testNonMergeableRandCall
SELECT y - x FROM (SELECT r + 4 AS x, r + 7 AS y FROM (SELECT rand() AS r FROM {a}))

-- testIfNull
SELECT ifnull(get_json_object(to_json(named_struct('k', k)), '$.k'), '0') FROM {t}
