package io.firesteel.changelog

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.firesteel.comparesBytes
import org.apache.spark.sql.types.{ArrayType, BinaryType, BooleanType, DataType, DateType, DayTimeIntervalType, NumericType, StringType, StructType, TimestampNTZType, TimestampType, TimeType, YearMonthIntervalType}

/** What can be kept in state: values that are equal when their bytes are. */
private[changelog] object StateTypes {

  def require(operator: String, columns: Seq[Attribute]): Unit =
    columns.find(c => !isKept(c.dataType)).foreach { column =>
      throw ChangelogErrors.unsupportedType(operator, column.name, column.dataType)
    }

  private def isKept(dataType: DataType): Boolean = dataType match {
    case string: StringType => comparesBytes(string)
    case StructType(fields) => fields.forall(f => isKept(f.dataType))
    case ArrayType(element, _) => isKept(element)
    case _: NumericType | BooleanType | BinaryType | DateType | TimestampType |
        TimestampNTZType => true
    case _: TimeType | _: DayTimeIntervalType | _: YearMonthIntervalType => true
    case _ => false
  }
}
