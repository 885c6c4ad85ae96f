-- room: skew
-- set: spark.firesteel.skew.mergeAggregates=false
-- expect: declines SKEW.SWITCHED_OFF
SELECT * FROM
  (SELECT sum(v) AS a FROM events WHERE k > 3) AS one,
  (SELECT sum(v) AS b FROM events WHERE g = '1') AS other
