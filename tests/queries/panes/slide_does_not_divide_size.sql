-- room: panes
-- expect: PlanPanes
SELECT window, max(v) AS v
FROM (SELECT *, timestamp_seconds(v * 100) AS ts FROM events)
GROUP BY window(ts, '5 hours', '2 hours', '15 minutes')
HAVING count(*) > 3
