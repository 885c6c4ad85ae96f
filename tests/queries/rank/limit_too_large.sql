-- room: rank
-- expect: declines RANK.LIMIT_TOO_LARGE
-- set: spark.firesteel.rank.maxLimit=5
SELECT k, v FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v) AS rn FROM events)
WHERE rn <= 6
