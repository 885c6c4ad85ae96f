package io.firesteel.changelog

import org.apache.spark.sql.catalyst.expressions.{Attribute, NamedExpression, RowOrdering}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.StringType

/**
 * The table whose changes the rows of `child` are: `from_changelog(TABLE(t), ...)`.
 *
 * Of a stream it stays in the analysed query, for [[ReadChangelog]] to find; of a batch
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

/** Checks the columns that a changelog is read by; of a batch, makes its table. */
object ResolveFromChangelog extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case source: FromChangelog if source.resolved =>
      requireColumns(source)
      if (source.isStreaming) source else TableOfChanges(source)
  }

  private def requireColumns(source: FromChangelog): Unit = {
    def wrong(column: Attribute, role: String, expected: String): Throwable =
      ChangelogErrors.badSourceColumn(source.function, column, role, expected)
    val op = source.opColumn
    if (!op.dataType.isInstanceOf[StringType]) throw wrong(op, "op", "a string")
    (source.keyColumns ++ source.sequenceColumns).find(_.exprId == op.exprId).foreach { column =>
      throw wrong(column, "key or sequence", "another column than op")
    }
    source.sequenceColumns.find(c => !RowOrdering.isOrderable(c.dataType)).foreach { column =>
      throw wrong(column, "sequence_by", "of a type that has an order")
    }
    StateTypes.require(source.function, source.keyColumns)
  }
}
