-- expect: FuseJson
SELECT CASE WHEN k = 1 THEN get_json_object(j, '$.a') ELSE get_json_object(j, '$.b') END AS x
FROM (SELECT k, concat('{"a":', v, ',"b":"', g, '"}') AS j FROM events)
