-- room: shuffle
-- set: spark.firesteel.shuffle.minKeysPerPartition=0
-- expect: RemoveRedundantShuffle
SELECT *, rank() OVER (PARTITION BY k ORDER BY s) AS r
FROM (SELECT k, g, sum(v) AS s FROM events GROUP BY k, g)
