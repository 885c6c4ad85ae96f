package io.firesteel.changelog.sql

import org.apache.spark.sql.catalyst.expressions.{Attribute, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * The table whose changes the rows of `child` are: `from_changelog(TABLE(t), ...)`.
 *
 * Of a stream it stays in the analysed query, for [[ParseQuery]] to find; of a batch
 * [[ResolveFromChangelog]] makes the table itself.
 *
 * @param function as the user wrote it: it has other names in errors
 * @param op the column that tells each row's kind
 * @param keys by which a row replaces or deletes another; none where rows are taken back whole
 * @param sequence by which of two rows of a key the later is told; none where it is the one that
 *   comes later
 */
final private[changelog] case class FromChangelog(
    function: String,
    op: NamedExpression,
    keys: Seq[NamedExpression],
    sequence: Seq[NamedExpression],
    child: LogicalPlan)
  extends UnaryNode {

  override def output: Seq[Attribute] = op match {
    case column: Attribute if column.resolved => child.output.filterNot(_.exprId == column.exprId)
    case _ => Nil
  }

  def opColumn: Attribute = op.toAttribute
  def keyColumns: Seq[Attribute] = keys.map(_.toAttribute)

  /** Of two rows of a key, what the key says is no difference. */
  def sequenceColumns: Seq[Attribute] =
    sequence.map(_.toAttribute).filterNot(c => keyColumns.exists(_.exprId == c.exprId))

  override protected def withNewChildInternal(newChild: LogicalPlan): FromChangelog =
    copy(child = newChild)
}
