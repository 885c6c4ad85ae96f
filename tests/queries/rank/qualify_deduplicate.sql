-- room: rank
-- since: 4.2
-- expect: PlanTopN
SELECT k, g, v FROM events QUALIFY row_number() OVER (PARTITION BY k, g ORDER BY v DESC) = 1
