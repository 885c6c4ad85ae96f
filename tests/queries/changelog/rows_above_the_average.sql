-- room: changelog
-- expect: LEFT OUTER JOIN
-- expect: Aggregate
SELECT k, v FROM events WHERE v > (SELECT avg(v) FROM events)
