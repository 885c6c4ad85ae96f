-- expect: FuseJson
SELECT k, a, b
FROM (SELECT k, concat('{"a":', v, ',"b":"', g, '"}') AS j FROM events)
LATERAL VIEW json_tuple(j, 'a', 'b') t AS a, b
