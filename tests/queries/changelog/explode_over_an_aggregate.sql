-- room: changelog
-- expect: Aggregate
SELECT k, e FROM (SELECT k, count(*) AS n FROM events GROUP BY k) LATERAL VIEW explode(sequence(1, n)) AS e
