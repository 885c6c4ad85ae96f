-- room: panes
-- expect: declines PANES.OTHER_NODE
SELECT g, window, count(*) AS n
FROM (SELECT *, timestamp_seconds(v * 100) AS ts FROM events)
GROUP BY ROLLUP (g, window(ts, '12 hours', '6 hours'))
