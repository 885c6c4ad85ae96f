-- room: shuffle
-- expect: declines SHUFFLE.UNKNOWN_KEYS
SELECT k, max(s) FROM (SELECT k, g, sum(v) AS s FROM events GROUP BY k, g) GROUP BY k
