-- room: shuffle
-- set: spark.firesteel.shuffle.minKeysPerPartition=0
-- set: spark.sql.autoBroadcastJoinThreshold=-1
-- expect: RemoveRedundantShuffle
SELECT l.k, l.s, r.v FROM (SELECT k, g, sum(v) AS s FROM events GROUP BY k, g) AS l
LEFT JOIN events AS r ON l.k = r.k
