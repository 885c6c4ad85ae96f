-- room: panes
-- expect: declines PANES.SWITCHED_OFF
-- set: spark.firesteel.panes.enabled=false
SELECT window, count(*) AS n
FROM (SELECT *, timestamp_seconds(v * 100) AS ts FROM events)
GROUP BY window(ts, '12 hours', '6 hours')
