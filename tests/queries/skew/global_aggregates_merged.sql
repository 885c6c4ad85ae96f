-- room: skew
-- expect: MergeGlobalAggregates
SELECT * FROM
  (SELECT avg(v) AS low_v, count(d) AS low_n FROM events WHERE k BETWEEN 0 AND 3) AS low,
  (SELECT max(v) AS high_v, sum(d * v) AS high_s FROM events WHERE k > 12 AND g = '1') AS high,
  (SELECT count(*) AS n FROM events) AS every
