-- testProjectWithExpr
SELECT x.k, x.v, y.g FROM (SELECT k, v + 1 AS v FROM {a}) AS x, {a} AS y WHERE x.k = y.k
