package io.firesteel.shuffle

import io.firesteel.core.CoreConf
import io.firesteel.testkit.RoomSuite
import org.apache.spark.sql.{DataFrame, SparkSessionExtensions}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec

/** The room alone, and how many shuffles a query runs. */
abstract class ShuffleSuite extends RoomSuite {

  require((CoreConf.all ++ ShuffleConf.all).nonEmpty, "reading the settings registers them")

  override protected def install(extensions: SparkSessionExtensions): Unit = {
    extensions.injectQueryStagePrepRule(session => new RemoveRedundantShuffle(session))
    extensions.injectColumnar(session => new RemoveRedundantShuffle.WithoutAdaptive(session))
  }

  /** Whatever the keys are. */
  protected val ungated: (String, Any) = ShuffleConf.MIN_KEYS_PER_PARTITION.key -> 0

  /** Shuffles that were run; of reused ones the first. */
  protected def shufflesOf(data: DataFrame): Int = {
    def of(plan: SparkPlan): Seq[ShuffleExchangeExec] = plan match {
      case adaptive: AdaptiveSparkPlanExec => of(adaptive.executedPlan)
      case stage: QueryStageExec => of(stage.plan)
      case shuffle: ShuffleExchangeExec => shuffle +: of(shuffle.child)
      case other => other.children.flatMap(of)
    }
    of(executed(data)).distinct.size
  }
}
