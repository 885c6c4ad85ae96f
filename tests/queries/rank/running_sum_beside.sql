-- room: rank
-- expect: declines RANK.OTHER_FUNCTION
SELECT k, v, s FROM (
  SELECT *, row_number() OVER w AS rn, sum(v) OVER w AS s FROM events
  WINDOW w AS (PARTITION BY k ORDER BY v))
WHERE rn <= 2
