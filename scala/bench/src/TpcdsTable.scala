package io.firesteel.bench

import java.time.LocalDate

import scala.jdk.CollectionConverters._

import io.trino.tpcds.{Results => Generated, Session, Table => Source}
import io.trino.tpcds.column.ColumnType.Base
import io.trino.tpcds.column.Column
import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{DataType, DateType, DecimalType, IntegerType, StringType, StructField, StructType}

/**
 * One of the 24 tables of TPC-DS, from the generator.
 *
 * Types are those of the specification with two exceptions, as in Spark's own tests: identifiers
 * are INT, and CHAR(n) and VARCHAR(n) are STRING. Spark handles them so inside, and this avoids
 * padding CHAR at each read.
 */
final class TpcdsTable private (source: Source) {

  val name: String = source.getName

  val schema: StructType = StructType(source.getColumns.toSeq.map { column =>
    StructField(TpcdsTable.respelled.getOrElse(column.getName, column.getName), typeOf(column))
  })

  /**
   * The number of the generator's units of work. These are rows, or orders for sales and returns,
   * whose number of rows per order is random.
   */
  def units(scale: Double): Long = session(scale).getScaling.getRowCount(source)

  /** The rows of units `first` to `last`, counted from 1. */
  def rows(scale: Double, first: Long, last: Long): Iterator[Row] = {
    val read = schema.map(field => valueOf(field.dataType)).toArray
    Generated
      .constructResults(source, first, last, session(scale))
      .iterator
      .asScala
      .flatMap(_.asScala)
      .map(texts =>
        Row.fromSeq(texts.asScala.zip(read).map { case (text, value) =>
          if (text == null) null else value(text)
        }.toSeq))
  }

  private def session(scale: Double): Session =
    Session.getDefaultSession.withScale(scale).withTable(source)

  private def typeOf(column: Column): DataType = {
    val declared = column.getType
    declared.getBase match {
      case Base.IDENTIFIER | Base.INTEGER => IntegerType
      case Base.DATE => DateType
      case Base.DECIMAL => DecimalType(declared.getPrecision.get, declared.getScale.get)
      case Base.CHAR | Base.VARCHAR => StringType
      case Base.TIME => sys.error(s"no type for column ${column.getName}")
    }
  }

  private def valueOf(dataType: DataType): String => Any = dataType match {
    case IntegerType => _.toInt
    case DateType => LocalDate.parse(_)
    case decimal: DecimalType => new java.math.BigDecimal(_).setScale(decimal.scale)
    case _ => identity
  }
}

object TpcdsTable {

  /** Columns with other names in the queries and in Spark's tests. */
  private val respelled: Map[String, String] = Map(
    "c_last_review_date_sk" -> "c_last_review_date",
    "p_response_targe" -> "p_response_target",
    "s_tax_precentage" -> "s_tax_percentage")

  /** All tables except the generator's table about itself. */
  val all: Seq[TpcdsTable] =
    Source.getBaseTables.asScala.toSeq.filterNot(_ == Source.DBGEN_VERSION).map(new TpcdsTable(_))

  def apply(name: String): TpcdsTable = all.find(_.name == name).getOrElse {
    throw new IllegalArgumentException(s"no table $name")
  }
}
