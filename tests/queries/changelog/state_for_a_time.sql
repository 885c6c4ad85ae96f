-- room: changelog
-- set: spark.firesteel.changelog.stateTtl=1h
-- expect: Aggregate
-- expect: Aggregate
SELECT c, count(*) AS n FROM (SELECT /*+ STATE_TTL('2h') */ k, count(*) AS c FROM events GROUP BY k) GROUP BY c
