package io.firesteel.changelog.plan.share

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, ExpressionSet}
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Statistics}

/**
 * Reads a shared part. It has the columns of the part in their order, with ids of its own.
 *
 * @param output the columns, and the part's kind where its changes are read
 */
final private[changelog] case class SharedView(part: SharedPart, output: Seq[Attribute])
  extends LeafNode {
  override def isStreaming: Boolean = true
  override def maxRows: Option[Long] = None
  override def computeStats(): Statistics = Statistics(sizeInBytes = conf.defaultSizeInBytes)
  override def simpleString(maxFields: Int): String = s"SharedView $part"
}

/**
 * A query and its shared parts, each of which may read those before it.
 *
 * @param children the plan of each part, and last that of the query
 */
final private[changelog] case class SharedPlans(parts: Seq[SharedPart], children: Seq[LogicalPlan])
  extends LogicalPlan {
  override def output: Seq[Attribute] = children.last.output
  override def maxRows: Option[Long] = None
  override lazy val validConstraints: ExpressionSet = ExpressionSet()
  // The optimizer removes columns that nothing reads. Readers are not above their part.
  override lazy val references: AttributeSet = AttributeSet(children.flatMap(_.output))
  override def simpleString(maxFields: Int): String = s"SharedPlans ${parts.mkString(", ")}"
  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[LogicalPlan]): SharedPlans = copy(children = newChildren)
}
