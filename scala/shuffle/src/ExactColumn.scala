package io.firesteel.shuffle

import io.firesteel.core.expressions.CannotFail
import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, EvalMode, Expression}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.firesteel.CastOf
import org.apache.spark.sql.types.{BinaryType, BooleanType, ByteType, DataType, DateType, DecimalType, IntegerType, LongType, ShortType, StringType, TimestampNTZType, TimestampType}

/**
 * Columns whose equal values have equal bytes. Not floats (two zeros, many NaN), and not strings
 * with a collation in which 'a' equals 'A'. Only for these columns does equality imply an equal
 * hash of another column or of a cast.
 */
private[shuffle] object ExactColumn {

  def isExact(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | _: DecimalType => true
    case BooleanType | BinaryType => true
    case DateType | TimestampType | TimestampNTZType => true
    case text: StringType => UnsafeRowUtils.isBinaryStable(text)
    case _ => false
  }

  /** The exact column below casts that lose no information and cannot fail. */
  def underCasts(key: Expression): Option[Attribute] = key match {
    // Values that cannot be cast are one: null.
    case cast: Cast
        if cast.evalMode == EvalMode.TRY && !Cast.canUpCast(cast.child.dataType, cast.dataType) =>
      None
    case CastOf(column: Attribute) if isExact(column.dataType) && CannotFail(key) => Some(column)
    case CastOf(inner: Cast) if CannotFail(key) => underCasts(inner)
    case _ => None
  }
}
