-- room: panes
-- expect: declines PANES.DISTINCT
-- expect: declines SKEW.ONE_DISTINCT
-- expect: declines SHUFFLE.UNKNOWN_KEYS
SELECT window, count(DISTINCT g) AS n
FROM (SELECT *, timestamp_seconds(v * 100) AS ts FROM events)
GROUP BY window(ts, '12 hours', '6 hours')
