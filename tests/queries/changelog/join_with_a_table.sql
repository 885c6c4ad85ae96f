-- room: changelog
-- expect: Aggregate
-- expect: Normalize
-- expect: Aggregate
SELECT name, sum(n) AS s FROM (SELECT g, count(*) AS n FROM events GROUP BY g) AS c
JOIN VALUES ('0', 'zero'), ('1', 'one'), ('1', 'uno') AS names(g, name) ON c.g = names.g GROUP BY name
