package io.firesteel.changelog.plan.frames

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, GreaterThan, Greatest, If, IsNull, Literal, Or}
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.catalyst.trees.BinaryLike
import org.apache.spark.sql.types.DataType

/**
 * The start of the session of a row, over the rows up to it in the order of their starts. A row
 * begins a session if it starts after the end of the one before; at its end it belongs to it.
 *
 * @param start of the row's own session
 * @param end of the row's own session: the start and the gap
 */
final private[changelog] case class SessionStart(start: Expression, end: Expression)
  extends DeclarativeAggregate
  with BinaryLike[Expression] {

  private lazy val first = AttributeReference("session_start", start.dataType)()
  private lazy val last = AttributeReference("session_end", end.dataType)()

  override def left: Expression = start
  override def right: Expression = end
  override def dataType: DataType = start.dataType
  override def nullable: Boolean = true
  override def prettyName: String = "session_start"

  override lazy val aggBufferAttributes: Seq[AttributeReference] = Seq(first, last)
  override lazy val initialValues: Seq[Expression] =
    Seq(Literal(null, start.dataType), Literal(null, end.dataType))

  override lazy val updateExpressions: Seq[Expression] = {
    val begins = Or(IsNull(last), GreaterThan(start, last))
    Seq(If(begins, start, first), If(begins, end, Greatest(Seq(last, end))))
  }

  /** The later part goes on from the earlier one only row by row. */
  override lazy val mergeExpressions: Seq[Expression] = Seq(first.right, last.right)

  override lazy val evaluateExpression: Expression = first

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): SessionStart = copy(newLeft, newRight)
}
