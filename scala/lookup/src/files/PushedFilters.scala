package io.firesteel.lookup.files

import org.apache.spark.sql.connector.expressions.{Expression, Literal, NamedReference}
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.firesteel.{comparesBytes, Files}
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.{DataType, StringType, StructType}

/**
 * The conditions by which the Parquet reader skips row groups without matching rows.
 *
 * They are part of a loaded bucket's identity. So conditions that differ between micro-batches are
 * left out: `valid_to > current_timestamp()` would load every bucket again. Comparisons of collated
 * strings are left out too, because the reader would compare bytes.
 *
 * The join applies all conditions to the answers in every case.
 */
private[files] object PushedFilters {

  /**
   * Comparisons of a column with constants. Spark's conversion of OR and NOT loses parts of them.
   */
  private val comparisons =
    Set("=", "<=>", "<", "<=", ">", ">=", "IN", "IS_NULL", "IS_NOT_NULL", "STARTS_WITH")

  def of(conditions: Seq[Predicate], schema: StructType): Seq[Filter] =
    conditions
      .filter(c => comparisons(c.name) && c.children.forall(isPlain(_, schema)))
      .flatMap(c => Files.sourceFilter(c))

  private def isPlain(part: Expression, schema: StructType): Boolean = part match {
    case constant: Literal[_] => isPlain(constant.dataType)
    case column: NamedReference => column.fieldNames match {
        case Array(name) => schema.find(_.name == name).exists(field => isPlain(field.dataType))
        case _ => false
      }
    case _ => false
  }

  private def isPlain(of: DataType): Boolean = of match {
    case string: StringType => comparesBytes(string)
    case other => Files.isAtomic(other) && !Files.isDatetime(other)
  }
}
