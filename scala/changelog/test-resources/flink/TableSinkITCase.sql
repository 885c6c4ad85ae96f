-- testJoinDisorderChangeLog
SELECT x.g, x.s, x.prize, y.age FROM (SELECT g, s, prize FROM (SELECT g, sum(v) AS s FROM {a}
GROUP BY g), (SELECT bv, max(bd) AS prize FROM {b} GROUP BY bv) WHERE s - 4 = bv) AS x, (SELECT
bg, max(bk) AS age FROM {b} GROUP BY bg) AS y WHERE x.g = y.bg

-- testSinkDisorderChangeLog
SELECT g, s, prize FROM (SELECT g, sum(v) AS s FROM {a} GROUP BY g), (SELECT bv, max(bd) AS prize
FROM {b} GROUP BY bv) WHERE s - 4 = bv

-- testSinkDisorderChangeLogWithRank
SELECT g, s FROM (SELECT g, s, row_number() OVER (PARTITION BY section ORDER BY s DESC, g) AS
place FROM (SELECT g, sum(v) AS s, sum(v) DIV 5 AS section FROM {t} GROUP BY g)) WHERE place < 3

-- testChangelogSourceWithNonDeterministicFuncSinkWithDifferentPk: keys
-- later: rand() of a row that may be retracted
SELECT id, split(concat(g, '-', CAST(rand() AS STRING)), '-')[0], k, w FROM {t}

-- testCreateTableAsSelectWithSortLimit
SELECT g, v FROM {t} ORDER BY v, g LIMIT 2

-- testInsertWithCTE
WITH few AS (SELECT id, g, v FROM {t}) SELECT * FROM few

-- testUpsertSinkWithFailingSource: keys
SELECT id, g FROM {t}
