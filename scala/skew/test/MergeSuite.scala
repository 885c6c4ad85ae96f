package io.firesteel.skew

import io.firesteel.core.CoreConf
import io.firesteel.testkit.RoomSuite
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.firesteel.executionOf

/** The merge rule alone: `DISTINCT`s stay Spark's here. */
abstract class MergeSuite extends RoomSuite {

  require((CoreConf.all ++ SkewConf.all).nonEmpty, "reading the settings registers them")

  override protected def install(extensions: SparkSessionExtensions): Unit =
    extensions.injectPreCBORule(_ => MergeGlobalAggregates)

  protected def optimized(sql: String): LogicalPlan = executionOf(spark.sql(sql)).optimizedPlan

  /** How often sources are read. Spark's rewrite of `DISTINCT` does not read them again. */
  protected def scans(sql: String): Int = optimized(sql).collectLeaves().size

  protected def globalAggregates(sql: String): Int = optimized(sql).collect {
    case aggregate: Aggregate if aggregate.groupingExpressions.isEmpty => aggregate
  }.size

  /** Joins the queries without a condition, each as a branch. */
  protected def sideBySide(branches: String*): String =
    branches.zipWithIndex.map { case (sql, at) => s"($sql) AS side$at" }
      .mkString("SELECT * FROM ", ", ", "")
}
