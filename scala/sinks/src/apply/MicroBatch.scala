package io.firesteel.sinks.apply

import scala.annotation.tailrec

import org.apache.spark.NarrowDependency
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, SubqueryAlias, View}
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.execution.streaming.state.StateStoreRDD
import org.apache.spark.sql.firesteel.executionOf

/** How a DataFrame was made from the micro-batch that `foreachBatch` passed. */
private[apply] object MicroBatch {

  /**
   * Whether these are the rows of a changelog's operators, in their order and with their names, so
   * that the metadata of their columns holds. Columns keep metadata in files, and after a sort.
   */
  def isAsGiven(data: DataFrame): Boolean =
    asGiven(executionOf(data).analyzed).exists(batch => isOfState(Seq(batch.rdd)))

  @tailrec
  private def asGiven(plan: LogicalPlan): Option[LogicalRDD] = plan match {
    case rows: LogicalRDD => Some(rows)
    case Project(columns, child) if columns.forall(_.isInstanceOf[Attribute]) => asGiven(child)
    case SubqueryAlias(_, child) => asGiven(child)
    case _ => None
  }

  /**
   * The original name of each column that comes unchanged from the changelog's operators. None if
   * the rows may be others than theirs. A filter between is allowed.
   */
  def namesGiven(data: DataFrame): Seq[Option[String]] = {
    val plan = executionOf(data).analyzed
    val batch = someOfGiven(plan).filter(rows => isOfState(Seq(rows.rdd))).toSeq.flatMap(_.output)
    plan.output.map(column => batch.find(_.exprId == column.exprId).map(_.name))
  }

  @tailrec
  private def someOfGiven(plan: LogicalPlan): Option[LogicalRDD] = plan match {
    case rows: LogicalRDD => Some(rows)
    case same @ (_: Project | _: Filter | _: SubqueryAlias | _: View) =>
      someOfGiven(same.children.head)
    case _ => None
  }

  /** Not through shuffles: they change the order in which the operators emitted the rows. */
  @tailrec
  private def isOfState(rdds: Seq[RDD[_]]): Boolean =
    if (rdds.isEmpty) false
    else if (rdds.exists(_.isInstanceOf[StateStoreRDD[_, _]])) true
    else isOfState(rdds.flatMap(narrowParents))

  private def narrowParents(rdd: RDD[_]): Seq[RDD[_]] = rdd.dependencies.collect {
    case narrow: NarrowDependency[_] => narrow.rdd
  }
}
