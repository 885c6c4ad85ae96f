-- room: changelog
-- expect: Aggregate
SELECT g, count(DISTINCT v) AS vs, count(DISTINCT d) FILTER (WHERE k > 3) AS ds, sum(v) AS s
FROM events GROUP BY g HAVING sum(v) > 40
