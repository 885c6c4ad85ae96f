-- room: rank
-- expect: PlanTopN
SELECT k, v FROM (
  SELECT *, rank() OVER (PARTITION BY k ORDER BY v) AS by_v, rank() OVER (PARTITION BY g ORDER BY d, id) AS by_d
  FROM events)
WHERE by_v <= 10 AND by_d <= 10
