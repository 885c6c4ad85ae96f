package io.firesteel.changelog.common

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.firesteel.{binaryKey, comparesBytes, isTime, normalizeFloats}
import org.apache.spark.sql.types.{ArrayType, BinaryType, BooleanType, DataType, DateType, DayTimeIntervalType, MapType, NullType, NumericType, StringType, StructType, TimestampNTZType, TimestampType, VariantType, YearMonthIntervalType}

/** The types that state can keep. State compares values by their bytes. */
private[changelog] object StateTypes {

  def require(operator: String, columns: Seq[Attribute]): Unit =
    requireAll(operator, columns, isKept(_, comparesBytes))

  /**
   * Requires types whose values state keeps by their bytes, even if Spark calls other bytes equal.
   */
  def requireValues(operator: String, columns: Seq[Attribute]): Unit =
    requireAll(operator, columns, isKept(_, _ => true))

  /** Requires types of rows that only come: nothing is compared with what state keeps of them. */
  def requireRows(operator: String, columns: Seq[Attribute]): Unit =
    requireAll(operator, columns, isKept(_, _ => true, comesOnly = true))

  /**
   * The value in a form whose bytes are equal if Spark calls the values equal: one zero, one NaN,
   * one string per collation.
   */
  def normalForm(value: Expression): Expression = binaryKey(normalizeFloats(value))

  /** Whether values of a type are equal only if their bytes are, zeros and NaN excepted. */
  def comparesAsBytes(dataType: DataType): Boolean = isKept(dataType, comparesBytes)

  /** Whether Spark has a hash of values of a type. */
  def isHashed(dataType: DataType): Boolean = isKept(dataType, _ => true)

  private def requireAll(
      operator: String,
      columns: Seq[Attribute],
      isRight: DataType => Boolean): Unit =
    columns.find(c => !isRight(c.dataType)).foreach { column =>
      throw ChangelogErrors.unsupportedType(operator, column.name, column.dataType)
    }

  private def isKept(
      dataType: DataType,
      ofString: StringType => Boolean,
      comesOnly: Boolean = false): Boolean =
    dataType match {
      case string: StringType => ofString(string)
      case StructType(fields) => fields.forall(f => isKept(f.dataType, ofString, comesOnly))
      case ArrayType(element, _) => isKept(element, ofString, comesOnly)
      // Equal maps may have their entries in another order, and then other bytes; so have variants.
      case _: VariantType => comesOnly
      case MapType(key, value, _) =>
        comesOnly && isKept(key, ofString, comesOnly) && isKept(value, ofString, comesOnly)
      case _: NumericType | BooleanType | BinaryType | DateType | TimestampType |
          TimestampNTZType | NullType => true
      case _: DayTimeIntervalType | _: YearMonthIntervalType => true
      case other => isTime(other)
    }
}
