package io.firesteel.changelog.state

import java.util.concurrent.TimeUnit.MICROSECONDS

import org.apache.spark.sql.catalyst.expressions.{CurrentTimestamp, Expression, Literal, UnaryExpression, Unevaluable}
import org.apache.spark.sql.types.{DataType, LongType, TimestampType}

/**
 * The time to live of an operator's entries, and the time of the micro-batch. Spark records that
 * time with the micro-batch's offsets: a micro-batch that is repeated after a crash finds the same
 * entries expired, however long the query was down.
 *
 * It is an expression because Spark replaces the time of the micro-batch in expressions only.
 *
 * @param ms the time to live in milliseconds
 * @param child the time; a literal in a plan that runs
 * @param ofTables the times to live of the tables in the store, 0 for ever; empty if all have `ms`
 */
final private[changelog] case class TimeToLive(
    ms: Long,
    child: Expression,
    ofTables: Seq[Long] = Nil)
  extends UnaryExpression
  with Unevaluable {

  /** Milliseconds since 1970. */
  def nowMs: Long = child match {
    case Literal(micros: Long, TimestampType) => MICROSECONDS.toMillis(micros)
    case other => throw new IllegalStateException(s"$other instead of a micro-batch's time")
  }

  override def dataType: DataType = LongType
  override def nullable: Boolean = false
  // It has one value in a micro-batch, but Spark treats the micro-batch's time as random.
  override lazy val deterministic: Boolean = true
  override def toString: String = s"time to live $text"

  /** The time with its unit; for several tables, in their order. */
  def text: String =
    if (ofTables.isEmpty) s"$ms ms"
    else ofTables.map(its => if (its == 0) "forever" else s"$its ms").mkString(" and ")
  override protected def withNewChildInternal(newChild: Expression): TimeToLive =
    copy(child = newChild)
}

private[changelog] object TimeToLive {

  /** None if entries are kept forever. */
  def of(ms: Long): Option[TimeToLive] =
    Option.when(ms > 0)(TimeToLive(ms, CurrentTimestamp()))

  /** None if the entries of all tables are kept forever. */
  def ofTables(ms: Seq[Long]): Option[TimeToLive] =
    if (ms.distinct.size == 1) of(ms.head)
    else of(ms.max).map(_.copy(ofTables = ms))
}
