-- room: changelog
-- expect: INNER JOIN
-- expect: Aggregate
-- expect: Aggregate
SELECT a.k, n, s FROM (SELECT k, count(*) AS n FROM events GROUP BY k) AS a
JOIN (SELECT k, sum(v) AS s FROM events GROUP BY k) AS b ON a.k = b.k
