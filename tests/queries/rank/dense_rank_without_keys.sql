-- room: rank
-- expect: PlanTopN
SELECT v, r FROM (SELECT *, dense_rank() OVER (ORDER BY d DESC NULLS LAST, g) AS r FROM events)
WHERE r < 3 ORDER BY r, v
