-- room: skew
-- plan: ours
-- expect: PlanDistinctAggregate
SELECT count(DISTINCT g), sum(DISTINCT v) FILTER (WHERE k < 5), count(DISTINCT k, g), max(d) FROM events
