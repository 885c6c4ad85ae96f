package io.firesteel.lookup.jdbc

import java.util.Locale

import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.types.{DataType, StructField}

/** A column with what Spark's JDBC source notes in its schema; a user's schema has no notes. */
private[jdbc] final case class DatabaseColumn(field: StructField) {

  def name: String = field.name

  val dataType: DataType = CharVarcharUtils.replaceCharVarcharWithString(field.dataType)

  /** The database's own name of the type, in lower case. */
  val typeName: Option[String] =
    Some("jdbcClientType").filter(field.metadata.contains).map(
      field.metadata.getString(_).toLowerCase(Locale.ROOT))

  /** Spark reads such columns as another type than they are, and does not write them back. */
  def isConverted: Boolean =
    Seq("logical_time_type", "binarylong", "rowid").exists(field.metadata.contains) ||
      typeName.contains("year")

  /** JDBC's `FLOAT` is of double precision, but Spark reads it as single: its keys are rounded. */
  def isSinglePrecision: Boolean =
    typeName.exists(Set("float4", "real", "binary_float").contains)

  /** Spark cuts off finer fractions, so that an equal value would not be found. */
  def isOfMicroseconds: Boolean =
    !field.metadata.contains("scale") || field.metadata.getLong("scale") <= 6
}
