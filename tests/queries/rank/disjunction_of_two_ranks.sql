-- the shape of TPC-DS q49
-- room: rank
-- expect: declines RANK.SEVERAL_WINDOWS
SELECT k, v, d FROM (
  SELECT *, rank() OVER (ORDER BY v) AS by_v, rank() OVER (ORDER BY d, id) AS by_d FROM events)
WHERE by_v <= 10 OR by_d <= 10
