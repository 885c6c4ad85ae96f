package io.firesteel.bench

import java.util.{Collections, IdentityHashMap}

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike

/** Facts from the plan of a query that has run. */
object FinalPlan extends AdaptiveSparkPlanHelper {

  /** Exchanges that moved rows. A reused exchange counts once. */
  def shuffles(plan: SparkPlan): Int = {
    val seen = Collections.newSetFromMap(new IdentityHashMap[SparkPlan, java.lang.Boolean])
    val all = collectWithSubqueries(plan) { case exchange: ShuffleExchangeLike => exchange }
    all.count(seen.add(_))
  }
}
