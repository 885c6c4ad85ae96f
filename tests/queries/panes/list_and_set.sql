-- room: panes
-- expect: PlanPanes
-- expect: declines SKEW.MANY_GROUPS
SELECT window.end, sort_array(collect_list(v)) AS all, sort_array(collect_set(g)) AS different
FROM (SELECT *, timestamp_seconds(v * 100) AS ts FROM events)
GROUP BY window(ts, '12 hours', '3 hours')
