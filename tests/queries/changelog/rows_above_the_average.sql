-- room: changelog
-- expect: INNER JOIN
-- expect: Aggregate
SELECT k, v FROM events WHERE v > (SELECT avg(v) FROM events)
