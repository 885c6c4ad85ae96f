-- room: changelog
-- expect: OverAggregate
-- expect: OverAggregate
SELECT k, v, id, sum(v) OVER (PARTITION BY k ORDER BY id) AS total,
  avg(v) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS mean
FROM events
