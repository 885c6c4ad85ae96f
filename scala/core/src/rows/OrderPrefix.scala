package io.firesteel.core.rows

import org.apache.spark.sql.catalyst.expressions.{Ascending, BitwiseNot, BitwiseXor, Cast, Coalesce, Expression, Literal, NullsFirst, SortOrder, SortPrefix}
import org.apache.spark.sql.firesteel.comparesBytes
import org.apache.spark.sql.types.{BinaryType, BooleanType, ByteType, DataType, DateType, DayTimeIntervalType, Decimal, DecimalType, DoubleType, FloatType, IntegerType, LongType, ShortType, StringType, TimestampNTZType, TimestampType, YearMonthIntervalType}

/**
 * The first order key as one signed 64-bit number that sorts in ascending order as the query wants.
 *
 * @param expression computes the number, never null; it is built from Spark's own expressions, so
 *   it supports code generation
 * @param decisive whether equal numbers mean equal order, for every number except `edge`
 * @param edge the number of a null, which it shares with one extreme value of the type
 */
private[firesteel] final case class OrderPrefix(
    expression: Expression,
    decisive: Boolean,
    edge: Long)

private[firesteel] object OrderPrefix {

  def of(orderBy: Seq[SortOrder]): OrderPrefix =
    orderBy.headOption match {
      // Spark ranks rows without an order for a correlated LIMIT: all of them are equal.
      case None => OrderPrefix(Literal(0L), decisive = true, edge = Long.MinValue)
      case Some(first) => of(first, alone = orderBy.length == 1)
    }

  private def of(first: SortOrder, alone: Boolean): OrderPrefix = {
    // Nulls are first or last in either direction, so they are placed after the direction is
    // applied.
    val edge = if (first.nullOrdering == NullsFirst) Long.MinValue else Long.MaxValue
    encodingOf(first.child.dataType) match {
      case None =>
        OrderPrefix(Literal(0L), decisive = false, edge)
      case Some(encoding) =>
        val raw = SortPrefix(SortOrder(encoding.key(first.child), Ascending))
        val signed = if (encoding.unsigned) BitwiseXor(raw, Literal(Long.MinValue)) else raw
        val directed = if (first.direction == Ascending) signed else BitwiseNot(signed)
        OrderPrefix(
          Coalesce(Seq(directed, Literal(edge))),
          decisive = encoding.whole && alone,
          edge)
    }
  }

  /**
   * The encoding of a type by Spark's `SortPrefix`.
   *
   * @param unsigned whether its numbers compare as unsigned
   * @param whole whether the number determines the value
   */
  private final case class Encoding(
      unsigned: Boolean,
      whole: Boolean,
      key: Expression => Expression = identity)

  private def encodingOf(dataType: DataType): Option[Encoding] = dataType match {
    case BooleanType | DateType | TimestampType | TimestampNTZType | ByteType |
        ShortType | IntegerType | LongType | _: DayTimeIntervalType | _: YearMonthIntervalType =>
      Some(Encoding(unsigned = false, whole = true))
    case FloatType | DoubleType => Some(Encoding(unsigned = true, whole = true))
    // Compared by bytes; with any other collation the bytes do not show the order.
    case s: StringType if comparesBytes(s) => Some(Encoding(unsigned = true, whole = false))
    case BinaryType => Some(Encoding(unsigned = true, whole = false))
    case d: DecimalType if d.precision < Decimal.MAX_LONG_DIGITS =>
      Some(Encoding(unsigned = false, whole = true))
    // SortPrefix rescales a wide decimal in place, which would change its input row. A double keeps
    // the order, but not every digit.
    case _: DecimalType =>
      Some(Encoding(unsigned = true, whole = false, key = Cast(_, DoubleType)))
    case _ => None
  }
}
