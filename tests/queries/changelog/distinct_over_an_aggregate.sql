-- room: changelog
-- expect: Aggregate
-- expect: Aggregate
SELECT DISTINCT n FROM (SELECT k, count(*) AS n FROM events GROUP BY k)
