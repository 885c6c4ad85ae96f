-- room: changelog
-- expect: TopN AppendFast
SELECT k, v, id FROM (
  SELECT *, row_number() OVER (PARTITION BY k ORDER BY id DESC) AS place FROM events)
WHERE place = 1
