-- room: changelog
-- expect: TopN Retract
-- expect: Aggregate
SELECT g, k, s FROM (
  SELECT *, dense_rank() OVER (PARTITION BY g ORDER BY s) AS place FROM (
    SELECT g, k, sum(v) AS s FROM events GROUP BY g, k))
WHERE place <= 2
