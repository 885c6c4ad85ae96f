-- room: skew
-- plan: ours
-- expect: PlanDistinctAggregate
SELECT k, g, count(DISTINCT v) AS vs, avg(DISTINCT d) AS mean FROM events GROUP BY ROLLUP(k, g)
