-- testVariant
SELECT parse_json(s), parse_json('"tea"') FROM (SELECT id, k, to_json(named_struct('k', k, 's',
g)) AS s FROM {t})

-- testVariantUDF
SELECT variant_get(parse_json(s), '$.k', 'int') FROM (SELECT id, k, to_json(named_struct('k', k,
's', g)) AS s FROM {t})

-- testVariantAgg
SELECT k, sum(variant_get(try_parse_json(s), '$.v', 'int')) FROM (SELECT id, k, if(id % 5 = 0,
'{', to_json(named_struct('v', v))) AS s FROM {t}) GROUP BY k

-- testVariantAsGroupKey
SELECT key, sum(k) FROM (SELECT CAST(try_parse_json(s) AS STRING) AS key, k FROM (SELECT id, k,
if(id % 5 = 0, '{', to_json(named_struct('v', v))) AS s FROM {t})) GROUP BY key

-- testVariantBuiltInAgg
SELECT k, count(try_parse_json(s)), count(DISTINCT CAST(try_parse_json(s) AS STRING)) FROM (SELECT
id, k, if(id % 5 = 0, '{', to_json(named_struct('v', v))) AS s FROM {t}) GROUP BY k;
SELECT k, min_by(CAST(try_parse_json(s) AS STRING), id), max_by(CAST(try_parse_json(s) AS STRING),
id) FROM (SELECT id, k, if(id % 5 = 0, '{', to_json(named_struct('v', v))) AS s FROM {t}) GROUP BY
k
