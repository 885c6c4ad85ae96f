package io.firesteel.skew

import io.firesteel.core.room.Room
import io.firesteel.core.room.Phase.{Check, Hints, Planner, PostHocResolution, PreCBO}

/** Several DISTINCTs in one pass, global aggregates merged, percentiles from sorted numbers. */
object SkewRoom
  extends Room(
    name = "skew",
    settings = SkewConf.all,
    declines = SkewDecline.docs ++ MergeDecline.docs,
    injections = Seq(
      // Before Spark resolves the hinted aggregate.
      Hints(_ => ResolvePhasesHint),
      PostHocResolution(_ => ApplyPhasesHint),
      Check(_ => CheckPhasesHint),
      // After Spark's simplifications, and before Spark rewrites DISTINCT.
      PreCBO(_ => MergeGlobalAggregates),
      PreCBO(_ => SortPercentiles),
      PreCBO(_ => KeepDistinctAggregates),
      // The strategy with marked aggregates is first.
      Planner(_ => PlanDistinctAggregate),
      Planner(session => new PlanSampledSets(session)),
      Planner(session => new PlanPercentiles(session))
    )
  )
