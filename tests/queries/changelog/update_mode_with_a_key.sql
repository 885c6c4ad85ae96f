-- room: changelog
-- mode: update
-- expect: Aggregate
SELECT g, count(DISTINCT v) AS n FROM events GROUP BY g
