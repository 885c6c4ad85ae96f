-- room: changelog
-- expect: Aggregate
SELECT k, n FROM (SELECT k, count(*) AS n FROM events GROUP BY k) WHERE n % 2 = 1
