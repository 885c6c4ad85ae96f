package io.firesteel

import io.firesteel.changelog.rules.{ExplainStreams, PlanChangelog, RewriteStreamingWrite}
import io.firesteel.changelog.sql.{FromChangelogFunction, FromDebeziumFunction, RemoveStateTtl, ResolveFromChangelog, ResolveStateTtl, RowKindFunction}
import io.firesteel.core.plans.MarkGrowingShuffles
import io.firesteel.extension.{Configs, ExplainFunction, SettingNames, VersionFunction}
import io.firesteel.lookup.{CheckLookupJoin, LiftOffDimension, LookupParser, PlanLookupJoin, PythonLookupFunction, RefuseBareLookup, ResolveLookupHint, ResolveLookupTable, UnpruneByLookup}
import io.firesteel.panes.{DeclineStreamingPanes, FoldWindows, KeepFoldedWindows, PlanPanes, PlanWindowCopies, ResolveFoldedWindows}
import io.firesteel.rank.{PlanTopN, RemoveRedundantPartialTopN}
import io.firesteel.shuffle.RemoveRedundantShuffle
import io.firesteel.skew.{ApplyPhasesHint, CheckPhasesHint, KeepDistinctAggregates, MergeGlobalAggregates, PlanDistinctAggregate, PlanSampledSets, ResolvePhasesHint, SortPercentiles}
import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSessionExtensions

/**
 * Installs every room. Set `spark.sql.extensions=io.firesteel.FiresteelExtensions`.
 *
 * This list is the whole plug-in: a rule that is not named here does not run. Within a phase the
 * order is the order of application, and every constraint on it is written beside it.
 */
class FiresteelExtensions extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    // Registers the settings, then checks what the session was started with.
    require(Configs.all.nonEmpty)
    Option(SparkEnv.get).foreach(env => SettingNames.checkAtStart(env.conf))

    // Parser: Flink's LOOKUP hint and time columns; any other text goes to Spark's untouched.
    extensions.injectParser((_, delegate) => new LookupParser(delegate))

    // Analysis. Hints come before relations are resolved, which Spark does only afterwards.
    extensions.injectHintResolutionRule(session => new ResolveLookupHint(session))
    extensions.injectHintResolutionRule(_ => ResolvePhasesHint)
    // Likewise before Spark writes out windows.
    extensions.injectHintResolutionRule(session => new FoldWindows(session))
    // Likewise before Spark checks a streaming query.
    extensions.injectHintResolutionRule(_ => ResolveStateTtl)
    extensions.injectHintResolutionRule(_ => RewriteStreamingWrite)
    extensions.injectFunction(RowKindFunction.description)
    extensions.injectResolutionRule(_ => ResolveFromChangelog)
    extensions.injectResolutionRule(_ => RemoveStateTtl)
    extensions.injectResolutionRule(_ => ResolveLookupTable)
    extensions.injectResolutionRule(_ => ResolveFoldedWindows)
    extensions.injectPostHocResolutionRule(_ => ApplyPhasesHint)
    extensions.injectCheckRule(SettingNames.checkAtAnalysis)
    extensions.injectCheckRule(_ => CheckPhasesHint)
    extensions.injectCheckRule(session => plan => CheckLookupJoin(session)(plan))
    extensions.injectTableFunction(PythonLookupFunction.description)
    extensions.injectTableFunction(FromChangelogFunction.description)
    extensions.injectTableFunction(FromDebeziumFunction.description)
    extensions.injectTableFunction(ExplainFunction.description)
    extensions.injectTableFunction(VersionFunction.description)

    // Between analysis and optimizer: only plans that `df.explain()` asks for are touched there.
    extensions.injectPlanNormalizationRule(_ => ExplainStreams)

    // Optimizer, once, after its rules have simplified and before Spark rewrites DISTINCT.
    extensions.injectPreCBORule(_ => LiftOffDimension)
    extensions.injectPreCBORule(_ => MergeGlobalAggregates)
    extensions.injectPreCBORule(_ => SortPercentiles)
    extensions.injectPreCBORule(_ => KeepDistinctAggregates)
    extensions.injectPreCBORule(session => new KeepFoldedWindows(session))
    extensions.injectPreCBORule(_ => DeclineStreamingPanes)

    // Planner: of those that look at aggregates, the one with marks of its own comes first; else they match
    // disjoint nodes. An aggregate over sliding windows is none of which a sample is taken.
    extensions.injectPlannerStrategy(_ => PlanTopN)
    extensions.injectPlannerStrategy(_ => PlanDistinctAggregate)
    extensions.injectPlannerStrategy(session => new PlanSampledSets(session))
    extensions.injectPlannerStrategy(_ => PlanPanes)
    extensions.injectPlannerStrategy(_ => PlanWindowCopies)
    extensions.injectPlannerStrategy(_ => PlanChangelog)
    extensions.injectPlannerStrategy(_ => UnpruneByLookup)
    extensions.injectPlannerStrategy(_ => PlanLookupJoin)
    extensions.injectPlannerStrategy(_ => RefuseBareLookup)

    // Physical. Rules about columns run with adaptive execution on and off alike; those that prepare
    // stages only with it, each time that it plans what is left to run.
    extensions.injectQueryStagePrepRule(session => new RemoveRedundantShuffle(session))
    extensions.injectQueryStagePrepRule(_ => MarkGrowingShuffles)
    extensions.injectColumnar(session => new RemoveRedundantShuffle.WithoutAdaptive(session))
    extensions.injectColumnar(_ => RemoveRedundantPartialTopN)
  }
}
