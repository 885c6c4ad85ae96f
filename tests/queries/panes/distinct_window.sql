-- room: panes
-- expect: PlanPanes
SELECT DISTINCT window(timestamp_seconds(v * 100), '12 hours', '1 hour') FROM events
