-- room: changelog
-- expect: Aggregate
-- expect: Aggregate
SELECT g, n % 3 AS m, count(*) AS ks, max(n) AS most FROM (
  SELECT g, k, count(*) AS n FROM events GROUP BY g, k) GROUP BY g, n % 3 WITH ROLLUP
