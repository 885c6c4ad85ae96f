-- room: changelog
-- expect: Aggregate
-- expect: Aggregate
-- expect: Aggregate
SELECT n, count(*) AS times FROM (
  SELECT k, count(*) AS n FROM events GROUP BY k
  UNION ALL
  SELECT CAST(g AS INT) AS k, max(v) AS n FROM events GROUP BY g)
GROUP BY n
