-- room: changelog
-- expect: TopN UpdateFast
-- expect: Aggregate
SELECT g, k, n, place FROM (
  SELECT *, row_number() OVER (PARTITION BY g ORDER BY n DESC, k) AS place FROM (
    SELECT g, k, count(*) AS n FROM events GROUP BY g, k))
WHERE place <= 2
