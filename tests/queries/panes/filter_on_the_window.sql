-- room: panes
-- expect: PlanPanes
SELECT * FROM (
  SELECT g, window, count(d) AS n
  FROM (SELECT *, timestamp_seconds(v * 100) AS ts FROM events)
  GROUP BY g, window(ts, '12 hours', '1 hour'))
WHERE window.start >= TIMESTAMP'1970-01-02 00:00:00' AND hour(window.end) = 15
