-- room: changelog
-- expect: Aggregate
-- expect: LEFT ANTI JOIN
-- expect: LEFT OUTER JOIN
SELECT a.g, count(*) AS n FROM events AS a LEFT JOIN events AS b ON a.k = b.v AND a.v < b.v
WHERE NOT EXISTS (SELECT 1 FROM events AS c WHERE c.k = a.v) GROUP BY a.g
