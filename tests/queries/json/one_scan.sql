-- expect: FuseJson
SELECT k, from_json(j, 'a INT, b STRING').a AS a, get_json_object(j, '$.b') AS b
FROM (SELECT k, concat('{"a":', v, ',"b":"', g, '"}') AS j FROM events)
WHERE k > 2 AND get_json_object(j, '$.a') > 100
