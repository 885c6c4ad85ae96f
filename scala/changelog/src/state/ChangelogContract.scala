package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Unevaluable}
import org.apache.spark.sql.types.{DataType, NullType}

/**
 * What a node and its operator have in common, whatever the operator does.
 *
 * It is an expression: Catalyst sees the columns in it, as it would not in another value, and Spark
 * puts the micro-batch's time into [[TimeToLive]].
 *
 * @param kindsIn of each input the column of kinds; none of one that is append-only
 * @param kindOut the result's column of kinds
 * @param updateBefore whether the row that an update replaces is emitted
 * @param eventTimes of each input the column by which the watermark closes what is kept
 * @param ttl how long an entry is kept; none, forever
 * @param watermark that of the operator in all micro-batches
 * @param mode the changelog mode of the result, as Flink writes it
 * @param member what the checkpoint keeps of the operator's part of the query
 */
final private[changelog] case class ChangelogContract(
    kindsIn: Seq[Option[Attribute]],
    kindOut: Option[Attribute],
    updateBefore: Boolean,
    eventTimes: Seq[Option[Attribute]],
    ttl: Option[TimeToLive],
    watermark: Watermark,
    mode: String,
    member: MemberRecord)
  extends Expression
  with Unevaluable {

  /** Of the only input. */
  def kindIn: Option[Attribute] = kindsIn.head

  override def children: Seq[Expression] = kindsIn.flatten ++ kindOut ++ eventTimes.flatten ++ ttl
  override def dataType: DataType = NullType
  override def nullable: Boolean = false
  override lazy val deterministic: Boolean = true
  override def toString: String = mode

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): ChangelogContract = {
    val next = newChildren.iterator
    def column(old: Option[Attribute]) = old.map(_ => next.next().asInstanceOf[Attribute])
    // In the order of `children`.
    val kinds = kindsIn.map(column)
    val out = column(kindOut)
    val times = eventTimes.map(column)
    copy(
      kindsIn = kinds,
      kindOut = out,
      eventTimes = times,
      ttl = ttl.map(_ => next.next().asInstanceOf[TimeToLive]))
  }
}
