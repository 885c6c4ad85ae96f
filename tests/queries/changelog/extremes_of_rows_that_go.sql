-- room: changelog
-- expect: Aggregate
-- expect: Aggregate
SELECT n, min(k) AS least, max_by(k, s) AS best, collect_set(g) AS gs FROM (
  SELECT k, min(g) AS g, count(*) AS n, sum(v) AS s FROM events GROUP BY k) GROUP BY n
