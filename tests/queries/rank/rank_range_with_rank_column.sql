-- room: rank
-- expect: PlanTopN
SELECT k, v, r FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY d, g) AS r FROM events)
WHERE r BETWEEN 3 AND 7
