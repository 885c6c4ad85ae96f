package io.firesteel.changelog.state

import java.util.concurrent.TimeUnit.MICROSECONDS

import org.apache.spark.sql.catalyst.expressions.{CurrentTimestamp, Expression, Literal, UnaryExpression, Unevaluable}
import org.apache.spark.sql.types.{DataType, LongType, TimestampType}

/**
 * How long an operator keeps an entry after it was last written, and by which time it has expired:
 * that of the micro-batch, which Spark notes with its offsets. A micro-batch that is repeated after a
 * crash then finds what it found before, however long the query was down.
 *
 * It is an expression since Spark puts the micro-batch's time into expressions alone.
 *
 * @param child the time; a literal in a plan that runs
 */
final private[changelog] case class TimeToLive(ms: Long, child: Expression)
  extends UnaryExpression
  with Unevaluable {

  /** In milliseconds since 1970. */
  def nowMs: Long = child match {
    case Literal(micros: Long, TimestampType) => MICROSECONDS.toMillis(micros)
    case other => throw new IllegalStateException(s"$other instead of a micro-batch's time")
  }

  override def dataType: DataType = LongType
  override def nullable: Boolean = false
  // One value in a micro-batch, where Spark takes a micro-batch's time for a random one.
  override lazy val deterministic: Boolean = true
  override def toString: String = s"time to live $ms ms"
  override protected def withNewChildInternal(newChild: Expression): TimeToLive =
    copy(child = newChild)
}

private[changelog] object TimeToLive {

  /** None for ever. */
  def of(ms: Long): Option[TimeToLive] =
    Option.when(ms > 0)(TimeToLive(ms, CurrentTimestamp()))
}
