-- room: rank
-- expect: declines RANK.SWITCHED_OFF
-- set: spark.firesteel.rank.enabled=false
SELECT k, v FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v) AS rn FROM events)
WHERE rn <= 6
