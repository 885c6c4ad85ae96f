package io.firesteel.sinks.postgres

import io.firesteel.sinks.apply.ApplyErrors
import org.apache.spark.sql.Column
import org.apache.spark.sql.firesteel.{Files, isTime}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.functions.{array_join, concat, date_format, hex, lit, replace, transform, when}
import org.apache.spark.sql.types.{ArrayType, BinaryType, BooleanType, DataType, DateType, NumericType, StringType, TimestampNTZType, TimestampType}

/**
 * Values as text that PostgreSQL parses for the type of the target's column. So a string can become
 * a `uuid`, an enum value or `jsonb`.
 */
private[postgres] object PostgresText {

  /** @param name the column's name, for the error */
  def of(value: Column, dataType: DataType, name: String): Column = dataType match {
    case ArrayType(element, _) if Files.isAtomic(element) =>
      // Every element except null is quoted, so that neither commas nor the word NULL are syntax.
      val items = transform(
        value,
        item =>
          when(item.isNull, lit("NULL"))
            .otherwise(concat(lit("\""), escaped(atom(item, element, name)), lit("\""))))
      concat(lit("{"), array_join(items, ","), lit("}"))
    case other => atom(value, other, name)
  }

  private def atom(value: Column, dataType: DataType, name: String): Column = dataType match {
    case BinaryType => concat(lit("\\x"), hex(value))
    // With its offset, so a timestamptz gets the same instant; a timestamp gets the wall-clock time
    // of the session's time zone.
    case TimestampType => concat(value.cast(StringType), date_format(value, offset))
    case _: NumericType | BooleanType | _: StringType | DateType | TimestampNTZType =>
      value.cast(StringType)
    case time if isTime(time) => value.cast(StringType)
    case other => throw ApplyErrors.unsupportedType(name, other.sql)
  }

  /** Offsets before about 1900 have seconds, which Spark's old formatter does not know. */
  private def offset: String =
    if (SQLConf.get.getConf(SQLConf.LEGACY_TIME_PARSER_POLICY).toString == "LEGACY") "XXX"
    else "XXXXX"

  private def escaped(text: Column): Column =
    replace(replace(text, lit("\\"), lit("\\\\")), lit("\""), lit("\\\""))
}
