package io.firesteel.shuffle

import io.firesteel.core.CoreConf
import io.firesteel.testkit.RoomSuite
import org.apache.spark.sql.{DataFrame, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec

/** The room alone, and the number of shuffles that a query runs. */
abstract class ShuffleSuite extends RoomSuite {

  require((CoreConf.all ++ ShuffleConf.all).nonEmpty, "reading the settings registers them")

  override protected def install(extensions: SparkSessionExtensions): Unit =
    ShuffleRoom.install(extensions)

  /** Settings that accept any keys. */
  protected val ungated: (String, Any) = ShuffleConf.MIN_KEYS_PER_PARTITION.key -> 0

  /** Shuffles that have run; reused ones count once. */
  protected def shufflesOf(data: DataFrame): Int =
    collectIn(executed(data)) { case shuffle: ShuffleExchangeExec => shuffle }.distinct.size

  /** Checks that rows have the order that [[InOrderExec]] declares. */
  protected def assertInOrder(plan: SparkPlan, about: => String): Unit =
    collectIn(plan) { case known: InOrderExec => known }.foreach { known =>
      val unordered = known.child.execute().mapPartitions { rows =>
        val order = new LazilyGeneratedOrdering(known.order, known.child.output)
        rows.map(_.copy()).sliding(2).filter(two => two.size == 2 && order.gt(two(0), two(1))).map(
          _ => 1)
      }
      assert(unordered.count() == 0, s"not in order ${known.order}: $about\n$known")
    }

  /** Collects from a plan and its stages. */
  protected def collectIn[T](plan: SparkPlan)(some: PartialFunction[SparkPlan, T]): Seq[T] =
    plan match {
      case adaptive: AdaptiveSparkPlanExec => collectIn(adaptive.executedPlan)(some)
      case stage: QueryStageExec => collectIn(stage.plan)(some)
      case other => some.lift(other).toSeq ++ other.children.flatMap(collectIn(_)(some))
    }
}
