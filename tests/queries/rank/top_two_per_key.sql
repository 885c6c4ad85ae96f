-- room: rank
-- expect: PlanTopN
SELECT k, v FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM events)
WHERE rn <= 2
