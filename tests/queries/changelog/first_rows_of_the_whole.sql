-- room: changelog
-- expect: TopN Retract
-- expect: Aggregate
SELECT k, sum(v) AS s FROM events GROUP BY k ORDER BY s DESC, k LIMIT 3 OFFSET 1
