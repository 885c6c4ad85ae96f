package io.firesteel.changelog.sql

import org.apache.spark.sql.catalyst.expressions.{Attribute, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * The table that a changelog makes: `from_changelog(TABLE(t), ...)`. The rows of `child` are its
 * changes.
 *
 * In a stream the node stays in the analysed query, and [[ParseQuery]] reads it. In a batch query
 * [[ResolveFromChangelog]] replaces it by a plan of the table.
 *
 * @param function the function that the user called; errors show it
 * @param op the column with the kind of each row
 * @param keys the columns by which a row replaces or deletes another; empty if retractions repeat
 *   the whole row
 * @param sequence the columns that order the rows of one key; empty if rows count in the order of
 *   arrival
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

  /** The sequence without columns of the key, which are equal for all rows of a key. */
  def sequenceColumns: Seq[Attribute] =
    sequence.map(_.toAttribute).filterNot(c => keyColumns.exists(_.exprId == c.exprId))

  override protected def withNewChildInternal(newChild: LogicalPlan): FromChangelog =
    copy(child = newChild)
}
