package io.firesteel.bench

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{IntegerType, LongType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** The dimension of every lookup case: the same customers in each store. */
object Customers {

  val schema: StructType = new StructType()
    .add("id", LongType, nullable = false)
    .add("name", StringType)
    .add("region", IntegerType)

  /** The same for Spark and for PostgreSQL. */
  val columns: Seq[(String, String)] =
    Seq("id" -> "id", "name" -> "concat('customer-', id)", "region" -> "CAST(id % 7 AS INT)")

  def name(id: Long): String = s"customer-$id"

  def region(id: Long): Int = (id % 7).toInt

  /** One customer, with the columns of a query. */
  def row(wanted: StructType, id: Long, name: String, region: Int): InternalRow =
    InternalRow.fromSeq(wanted.fieldNames.toSeq.map {
      case "id" => id
      case "name" => UTF8String.fromString(name)
      case "region" => region
    })
}
