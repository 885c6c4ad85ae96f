-- room: skew
-- plan: ours
-- expect: PlanDistinctAggregate
SELECT k, count(DISTINCT g) AS gs, count(DISTINCT d) AS ds, sum(v) AS total FROM events GROUP BY k
