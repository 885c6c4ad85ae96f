-- room: panes
-- expect: declines PANES.PART_OF_WINDOW
SELECT h, count(*) AS n FROM (
  SELECT hour(window(timestamp_seconds(v * 100), '12 hours', '6 hours').start) AS h FROM events)
GROUP BY h
