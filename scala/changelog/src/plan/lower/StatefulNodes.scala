package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.plan.{Places, PlanText}
import io.firesteel.changelog.state.ChangelogContract
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, Expression, ExpressionSet, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.types.ByteType

/**
 * A logical operator of a changelog, with the kinds of its rows in columns.
 *
 * It has a result of its own, whose rows are not those of the input of one micro-batch: Spark must
 * infer nothing about it from the input.
 */
private[changelog] trait ChangelogNode extends LogicalPlan {
  override lazy val validConstraints: ExpressionSet = ExpressionSet()
  override def producedAttributes: AttributeSet =
    outputSet -- AttributeSet(children.flatMap(_.output))
  override def maxRows: Option[Long] = None
}

/** One that keeps state. */
private[changelog] trait StatefulNode extends ChangelogNode {
  def contract: ChangelogContract

  /** What its line of a plan shows, in the order in which it does. */
  protected def shown: Seq[String]

  override def isStateful: Boolean = isStreaming
  final override def argString(maxFields: Int): String =
    (shown :+ s"changelogMode=$contract").mkString(", ")
}

private[changelog] object ChangelogNode {

  /** A new column for kinds. */
  def newKind(): AttributeReference =
    AttributeReference("row_kind", ByteType, nullable = false)()
}

/**
 * See [[GroupAggregate]].
 *
 * @param functions over places in `arguments`, not over columns: the optimizer may find in one
 *   micro-batch and not in another that two columns are one, and state must not notice
 * @param isGlobal whether the keys are a constant and the one group is always there
 */
final private[changelog] case class ChangelogAggregate(
    keys: Seq[Attribute],
    arguments: Seq[Attribute],
    functions: Seq[Expression],
    distinct: Seq[Boolean],
    results: Seq[Attribute],
    isGlobal: Boolean,
    contract: ChangelogContract,
    child: LogicalPlan)
  extends UnaryNode
  with StatefulNode {
  def calls: Seq[String] = PlanText.calls(functions, distinct, arguments)
  override protected def shown: Seq[String] = Seq(PlanText.columns(keys), PlanText.list(calls))
  override def output: Seq[Attribute] = keys ++ results ++ contract.kindOut
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogAggregate =
    copy(child = newChild)
}

/**
 * See [[TopN]]. `partition ++ columns ++ kindIn` are all columns that are read of the child.
 *
 * @param rowKey what tells rows apart, where a row that comes replaces the one with the same
 */
final private[changelog] case class ChangelogTopN(
    partition: Seq[Attribute],
    columns: Seq[Attribute],
    order: Seq[SortOrder],
    places: Places,
    rank: Option[Attribute],
    strategy: String,
    rowKey: Seq[Attribute],
    contract: ChangelogContract,
    child: LogicalPlan)
  extends UnaryNode
  with StatefulNode {
  override protected def shown: Seq[String] =
    PlanText.topN(partition, order, places, strategy, rowKey)
  override def output: Seq[Attribute] = partition ++ columns ++ rank ++ contract.kindOut
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogTopN =
    copy(child = newChild)
}

/** See [[Normalize]]. `keys ++ columns ++ kindIn` are all columns of the child. */
final private[changelog] case class ChangelogNormalize(
    keys: Seq[Attribute],
    columns: Seq[Attribute],
    sequence: Seq[Attribute],
    contract: ChangelogContract,
    child: LogicalPlan)
  extends UnaryNode
  with StatefulNode {
  override protected def shown: Seq[String] = PlanText.normalize(keys, sequence)
  override def output: Seq[Attribute] = keys ++ columns ++ contract.kindOut
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogNormalize =
    copy(child = newChild)
}

/** All rows that are there, at every micro-batch: what complete mode asks for. */
final private[changelog] case class ChangelogTable(
    columns: Seq[Attribute],
    contract: ChangelogContract,
    child: LogicalPlan)
  extends UnaryNode
  with StatefulNode {
  override protected def shown: Seq[String] = Seq(PlanText.columns(columns))
  override def output: Seq[Attribute] = columns
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogTable =
    copy(child = newChild)
}

/** Rows whose column `passes` is true; what is left of an update by itself becomes what it is. */
final private[changelog] case class ChangelogFilter(
    passes: Attribute,
    kind: Attribute,
    kindOut: Attribute,
    child: LogicalPlan)
  extends UnaryNode
  with ChangelogNode {
  override def argString(maxFields: Int): String = passes.toString
  override def output: Seq[Attribute] =
    child.output.map(column => if (column.exprId == kind.exprId) kindOut else column)
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogFilter =
    copy(child = newChild)
}

/** Numbers the rows of each task, which Spark's own function for it may not do on a stream. */
final private[changelog] case class ChangelogNumbers(number: Attribute, child: LogicalPlan)
  extends UnaryNode {
  override def argString(maxFields: Int): String = number.toString
  override def output: Seq[Attribute] = child.output :+ number
  override def producedAttributes: AttributeSet = AttributeSet(number)
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogNumbers =
    copy(child = newChild)
}

/**
 * The matches of each row of a left outer join, of which a row has as many as it has matches, one
 * behind the other.
 *
 * @param number tells a row of the left side from the next
 * @param isThere a column of the right side that is null where there is no match
 * @param element what of a row of the right side is a match
 */
final private[changelog] case class ChangelogMatches(
    columns: Seq[Attribute],
    number: Attribute,
    isThere: Attribute,
    element: Expression,
    matches: Attribute,
    child: LogicalPlan)
  extends UnaryNode {
  override def argString(maxFields: Int): String = matches.toString
  override def output: Seq[Attribute] = columns :+ matches
  override def producedAttributes: AttributeSet = AttributeSet(matches)
  override lazy val validConstraints: ExpressionSet = ExpressionSet()
  override def maxRows: Option[Long] = None
  override protected def withNewChildInternal(newChild: LogicalPlan): ChangelogMatches =
    copy(child = newChild)
}
