-- room: changelog
-- mode: update
-- expect: refused FIRESTEEL_CHANGELOG_NOT_AN_UPSERT
SELECT c, count(*) AS n FROM (SELECT k, count(*) AS c FROM events GROUP BY k) GROUP BY c
