package io.firesteel.panes

import io.firesteel.core.CoreConf
import io.firesteel.core.plans.MarkGrowingShuffles
import io.firesteel.testkit.RoomSuite
import org.apache.spark.sql.SparkSessionExtensions

/** The room alone: its tests neither need nor see the others. */
abstract class PanesSuite extends RoomSuite {

  require((CoreConf.all ++ PanesConf.all).nonEmpty, "reading the settings registers them")

  override protected def install(extensions: SparkSessionExtensions): Unit = {
    extensions.injectHintResolutionRule(session => new FoldWindows(session))
    extensions.injectResolutionRule(_ => ResolveFoldedWindows)
    extensions.injectPreCBORule(session => new KeepFoldedWindows(session))
    extensions.injectPreCBORule(_ => DeclineStreamingPanes)
    extensions.injectPlannerStrategy(_ => PlanPanes)
    extensions.injectPlannerStrategy(_ => PlanWindowCopies)
    extensions.injectQueryStagePrepRule(_ => MarkGrowingShuffles)
  }
}
