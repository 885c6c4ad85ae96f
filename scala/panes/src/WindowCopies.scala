package io.firesteel.panes

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeMap}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Statistics, UnaryNode}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

/** Gives Spark the statistics of folded windows: each row has `copies` copies. */
final private[panes] case class WindowCopies(child: LogicalPlan, copies: Long) extends UnaryNode {

  override def output: Seq[Attribute] = child.output

  /** Column statistics of the rows, except numbers of nulls, hold for their copies. */
  override def stats: Statistics = {
    val rows = child match {
      case CopiedWindows(folded: WindowGenerate) => folded.child.stats
      case other => other.stats
    }
    rows.copy(
      sizeInBytes = child.stats.sizeInBytes * copies,
      rowCount = rows.rowCount.map(_ * copies),
      attributeStats = AttributeMap(rows.attributeStats.map { case (column, of) =>
        column -> of.copy(nullCount = of.nullCount.map(_ * copies))
      }.toSeq)
    )
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): WindowCopies =
    copy(child = newChild)
}

/** Plans folded windows as a generator, if a later rule of Spark made panes impossible. */
object PlanWindowCopies extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case WindowCopies(windows, _) => Seq(planLater(windows))
    case _ => Nil
  }
}
