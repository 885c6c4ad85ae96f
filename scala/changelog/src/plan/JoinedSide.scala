package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Unevaluable}
import org.apache.spark.sql.types.{DataType, NullType}

/**
 * One side of a join, as the node and the operator share it. It is an expression, so that Catalyst
 * sees its columns.
 *
 * @param keys columns by whose hash rows reach the partitions of the state; with the other side's
 *   they agree by position
 * @param columns columns of the result, which may include keys
 * @param nullsMatchNothing positions of keys in which a null equals nothing, if such rows reach the
 *   operator; below a side that is not preserved they are filtered out
 * @param single whether a key has at most one row
 * @param replaces whether an update comes without the row before it
 * @param countsMatches whether state keeps with each row the number of its matches
 */
final private[changelog] case class JoinedSide(
    keys: Seq[Attribute],
    columns: Seq[Attribute],
    nullsMatchNothing: Seq[Int],
    single: Boolean,
    replaces: Boolean,
    countsMatches: Boolean)
  extends Expression
  with Unevaluable {

  /** The columns that state keeps in the value or the entry; a key is kept once. */
  def stored: Seq[Attribute] = columns.filterNot(c => keys.exists(_.exprId == c.exprId))

  override def children: Seq[Expression] = keys ++ columns
  override def dataType: DataType = NullType
  override def nullable: Boolean = false
  override lazy val deterministic: Boolean = true
  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): JoinedSide = {
    val (newKeys, newColumns) = newChildren.map(_.asInstanceOf[Attribute]).splitAt(keys.size)
    copy(keys = newKeys, columns = newColumns)
  }
}
