package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId, Expression, Literal, Unevaluable}
import org.apache.spark.sql.types.{DataType, DayTimeIntervalType, NullType}

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
 * @param bound when rows leave state, if the watermark closes them
 */
final private[changelog] case class JoinedSide(
    keys: Seq[Attribute],
    columns: Seq[Attribute],
    nullsMatchNothing: Seq[Int],
    single: Boolean,
    replaces: Boolean,
    countsMatches: Boolean,
    bound: Option[TimeBound] = None)
  extends Expression
  with Unevaluable {

  /** The columns that state keeps in the value or the entry; a key is kept once. */
  def stored: Seq[Attribute] = columns.filterNot(c => keys.exists(_.exprId == c.exprId))

  override def children: Seq[Expression] = keys ++ columns ++ bound.map(_.time)
  override def dataType: DataType = NullType
  override def nullable: Boolean = false
  override lazy val deterministic: Boolean = true
  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): JoinedSide = {
    val (newKeys, others) = newChildren.map(_.asInstanceOf[Attribute]).splitAt(keys.size)
    val (newColumns, times) = others.splitAt(columns.size)
    copy(
      keys = newKeys,
      columns = newColumns,
      bound = bound.map(_.copy(time = times.head)))
  }
}

/**
 * The join whose result is the left side of another one by the same keys, in the same store: its
 * rows are joined again from what it keeps, so the other one keeps none of them (Flink: MultiJoin).
 *
 * @param member its number among the operators that share the store
 * @param stored for each column that the left side would keep, its place in the result
 * @param keys for each key the columns of the left side that have its value
 */
final private[changelog] case class JoinBelow(
    member: Int,
    stored: Seq[Int],
    keys: Seq[Set[ExprId]])

/**
 * The time bound of one side of a join.
 *
 * @param time the side's column of event time, or of windows of it
 * @param reach how long after that time the last row of the other side that matches may be, in
 *   microseconds; none if the condition sets no end, so that rows stay
 * @param after how long after its time the watermark closes a row of the other side, in microseconds
 * @param size of the windows, if the time is a column of them, in microseconds
 */
final private[changelog] case class TimeBound(
    time: Attribute,
    reach: Option[Long],
    after: Long,
    size: Option[Long] = None) {

  /** How long after a row's time the watermark takes the row out of state, in microseconds. */
  def closes: Option[Long] = reach.map(_ + after)

  /** When rows leave, in words. */
  def text: String = closes.fold("the condition sets no last row, so they stay") { micros =>
    s"a row leaves when the watermark is at ${time.name} + ${Literal(micros, DayTimeIntervalType()).sql}"
  }
}
