-- room: skew
-- expect: MergeGlobalAggregates
-- expect: PlanDistinctAggregate
SELECT * FROM
  (SELECT avg(v) AS b1_lp, count(v) AS b1_cnt, count(DISTINCT v) AS b1_cntd FROM events
   WHERE k BETWEEN 0 AND 5 AND (v BETWEEN 8 AND 18 OR d BETWEEN 4 AND 14)) AS b1,
  (SELECT avg(v) AS b2_lp, count(v) AS b2_cnt, count(DISTINCT v) AS b2_cntd FROM events
   WHERE k BETWEEN 6 AND 10 AND (v BETWEEN 90 AND 100 OR d BETWEEN 2 AND 3)) AS b2
LIMIT 100
