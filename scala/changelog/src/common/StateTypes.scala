package io.firesteel.changelog.common

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.firesteel.{binaryKey, comparesBytes, normalizeFloats}
import org.apache.spark.sql.types.{ArrayType, BinaryType, BooleanType, DataType, DateType, DayTimeIntervalType, NullType, NumericType, StringType, StructType, TimestampNTZType, TimestampType, TimeType, YearMonthIntervalType}

/** What can be kept in state: values that are equal when their bytes are. */
private[changelog] object StateTypes {

  def require(operator: String, columns: Seq[Attribute]): Unit =
    requireAll(operator, columns, isKept(_, comparesBytes))

  /** The same of values that are told apart by their bytes alone, whatever else makes them equal. */
  def requireValues(operator: String, columns: Seq[Attribute]): Unit =
    requireAll(operator, columns, isKept(_, _ => true))

  /** What is equal in bytes when a value is equal: with one zero, one NaN, and one string of a collation. */
  def normalForm(value: Expression): Expression = binaryKey(normalizeFloats(value))

  private def requireAll(
      operator: String,
      columns: Seq[Attribute],
      isRight: DataType => Boolean): Unit =
    columns.find(c => !isRight(c.dataType)).foreach { column =>
      throw ChangelogErrors.unsupportedType(operator, column.name, column.dataType)
    }

  private def isKept(dataType: DataType, ofString: StringType => Boolean): Boolean =
    dataType match {
      case string: StringType => ofString(string)
      case StructType(fields) => fields.forall(f => isKept(f.dataType, ofString))
      case ArrayType(element, _) => isKept(element, ofString)
      case _: NumericType | BooleanType | BinaryType | DateType | TimestampType |
          TimestampNTZType | NullType => true
      case _: TimeType | _: DayTimeIntervalType | _: YearMonthIntervalType => true
      case _ => false
    }
}
