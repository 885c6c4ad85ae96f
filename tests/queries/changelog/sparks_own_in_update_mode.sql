-- room: changelog
-- mode: update
SELECT k, count(*) AS n FROM events GROUP BY k
