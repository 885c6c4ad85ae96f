-- room: panes
-- expect: PlanPanes
SELECT k, window.start, count(*) AS n, sum(v) AS s
FROM (SELECT *, timestamp_seconds(v * 100) AS ts FROM events)
GROUP BY k, window(ts, '1 day', '1 hour')
