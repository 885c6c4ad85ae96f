package io.firesteel.core.rows

import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, StructType}

/** Builds binary rows from Scala values, in one buffer. */
final private[core] class RowMaker(val schema: StructType) {

  private[this] val types: Array[DataType] = schema.map(_.dataType).toArray
  private[this] val toRow = UnsafeProjection.create(types)
  private[this] val converters = types.map(CatalystTypeConverters.createToCatalystConverter)

  def apply(values: Any*): UnsafeRow = toRow(internal(values))

  /** The same as a generic row. */
  def internal(values: Seq[Any]): InternalRow =
    InternalRow.fromSeq(values.zip(converters).map { case (value, to) => to(value) })
}

private[core] object RowMaker {
  def apply(ddl: String): RowMaker =
    new RowMaker(if (ddl.isEmpty) StructType(Nil) else StructType.fromDDL(ddl))
}
