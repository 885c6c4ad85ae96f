package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Unevaluable}
import org.apache.spark.sql.types.{DataType, NullType}

/**
 * The properties that a logical node and its physical operator share.
 *
 * It is an expression: Catalyst sees the columns inside expressions only, and Spark replaces the
 * time of [[TimeToLive]] in expressions only.
 *
 * @param kindsIn for each input its column of row kinds; none for an insert-only input
 * @param kindOut the result's column of row kinds
 * @param updateBefore whether `-U` rows are emitted
 * @param eventTimes for each input the column by which the watermark closes state
 * @param ttl the time to live of an entry; none, forever
 * @param watermark the operator's watermark, shared by all micro-batches
 * @param mode the changelog mode of the result, in Flink's notation
 * @param member the part of the query that the checkpoint records for this operator
 * @param placement by which columns of its key the operator's state is distributed
 * @param keptCalls the calls and columns that the checkpoint has, shared by all micro-batches
 */
final private[changelog] case class ChangelogContract(
    kindsIn: Seq[Option[Attribute]],
    kindOut: Option[Attribute],
    updateBefore: Boolean,
    eventTimes: Seq[Option[Attribute]],
    ttl: Option[TimeToLive],
    watermark: Watermark,
    mode: String,
    member: MemberRecord,
    placement: Placement = Placement.ownShuffles,
    keptCalls: KeptCalls = new KeptCalls)
  extends Expression
  with Unevaluable {

  /** Row kinds of the only input. */
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
    // The order of `children`.
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
