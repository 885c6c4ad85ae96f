-- expect: FuseJson
SELECT from_json(j, 'a INT, b STRING').b AS b, sum(from_json(j, 'a INT, b STRING').a) AS a
FROM (SELECT concat('{"a":', v, ',"b":"', g, '"}') AS j FROM events)
GROUP BY 1
