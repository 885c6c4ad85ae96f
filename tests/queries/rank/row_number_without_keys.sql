-- room: rank
-- expect: declines RANK.SPARK_TAKES_ORDERED
SELECT v FROM (SELECT *, row_number() OVER (ORDER BY v) AS rn FROM events) WHERE rn <= 3
