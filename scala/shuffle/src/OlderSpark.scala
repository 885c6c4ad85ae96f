package io.firesteel.shuffle

import io.firesteel.core.decide.{Decisions, Decline}
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.execution.{SparkPlan, UnionExec}
import org.apache.spark.sql.execution.joins.ShuffledJoin
import org.apache.spark.sql.firesteel.{unionsHaveLayouts, KeyedTables}

/** Reasons of the running version of Spark, which lacks what a later one has. */
private[shuffle] object OlderSpark {

  /** Records joins that could use how a table lies. */
  def declineStoredTables(plan: SparkPlan): Unit =
    if (!KeyedTables.areUsable) {
      plan.foreach {
        case join: ShuffledJoin if shuffledInputs(join).exists(isStored) =>
          join.logicalLink.foreach {
            Decisions.decline(
              _,
              RemoveRedundantShuffle.name,
              ShuffleDecline.StoredTable(SPARK_VERSION))
          }
        case _ => ()
      }
    }

  /** Why a plan with fewer shuffles does not meet its own requirements; none if it is unknown. */
  def whyInvalid(plan: SparkPlan): Option[Decline] =
    if (!unionsHaveLayouts && plan.exists(_.isInstanceOf[UnionExec])) {
      Some(ShuffleDecline.UnionLayout(SPARK_VERSION))
    } else None

  private def isStored(plan: SparkPlan): Boolean = KeyedTables.isReported(plan.outputPartitioning)

  private def shuffledInputs(join: SparkPlan): Seq[SparkPlan] =
    join.children.flatMap(_.collectFirst {
      case shuffle if Candidate.isOfSpark(shuffle) => shuffle.children.head
    })
}
