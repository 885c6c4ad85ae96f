-- room: rank
-- expect: PlanTopN
SELECT k, v, rn, rk FROM (
  SELECT *, row_number() OVER w AS rn, rank() OVER w AS rk, dense_rank() OVER w AS dr FROM events
  WINDOW w AS (PARTITION BY k ORDER BY v))
WHERE rn <= 3 AND rk IN (1, 2) AND dr < 9
