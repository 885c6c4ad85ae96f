-- room: changelog
-- mode: complete
-- expect: Table
-- expect: Aggregate
-- expect: Aggregate
SELECT c, count(*) AS n FROM (SELECT k, count(*) AS c FROM events GROUP BY k) GROUP BY c ORDER BY n DESC, c
