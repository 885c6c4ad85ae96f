-- room: rank
-- expect: declines RANK.NO_UPPER_BOUND
SELECT k, v FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v) AS rn FROM events)
WHERE rn >= 290
