-- room: skew
-- expect: declines SKEW.ONE_DISTINCT
-- expect: declines SHUFFLE.UNKNOWN_KEYS
SELECT k, count(DISTINCT g), sum(v) FROM events GROUP BY k
