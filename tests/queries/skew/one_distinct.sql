-- room: skew
-- expect: declines SKEW.ONE_DISTINCT
SELECT k, count(DISTINCT g), sum(v) FROM events GROUP BY k
