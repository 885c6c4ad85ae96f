-- room: panes
-- expect: declines PANES.OVERLAP_TOO_SMALL
SELECT window, count(*) AS n
FROM (SELECT *, timestamp_seconds(v * 100) AS ts FROM events)
GROUP BY window(ts, '3 hours', '2 hours')
