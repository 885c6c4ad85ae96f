-- room: shuffle
-- set: spark.firesteel.shuffle.minKeysPerPartition=0
-- set: spark.sql.autoBroadcastJoinThreshold=-1
-- expect: RemoveRedundantShuffle
-- expect: RemoveRedundantSort
WITH ranked AS (
  SELECT k, g, s, rank() OVER (PARTITION BY k ORDER BY s) AS r
  FROM (SELECT k, g, sum(v) AS s FROM events GROUP BY k, g))
SELECT one.k, one.g, one.s, next.s AS more
FROM ranked AS one JOIN ranked AS next ON one.k = next.k AND one.r = next.r - 1
