-- room: skew
-- expect: PlanDistinctAggregate
-- set: spark.firesteel.skew.aggPhaseStrategy=TWO_PHASE
SELECT k, sort_array(collect_set(g)) AS gs FROM events GROUP BY k
