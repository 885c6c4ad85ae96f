package io.firesteel.changelog.statements

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * A stream that is read from its start in one micro-batch, and in each later one like any other.
 *
 * @param source the stream as it is in a query that has not started; `child` is what Spark makes of
 *   it in a micro-batch
 */
final private[changelog] case class FromStart(source: FromStart.Source, child: LogicalPlan)
  extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): FromStart =
    copy(child = newChild)
}

private[changelog] object FromStart {

  /**
   * No case class: its plan is no input of the node.
   *
   * @param number of the source in its query, by which it has a folder in the checkpoint
   * @param place of the source in the log of offsets
   * @param batch the micro-batch that reads it from its start
   * @param checkpoint of the query; none if it is only explained
   */
  final class Source(
      val relation: LogicalPlan,
      val number: Int,
      val place: Int,
      val batch: Long,
      val checkpoint: Option[String]) {
    override def toString: String = s"from its start in micro-batch $batch"
  }
}
