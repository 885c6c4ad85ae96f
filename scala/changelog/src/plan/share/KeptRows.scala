package io.firesteel.changelog.plan.share

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.StructType

/**
 * Rows that the executors keep in memory, and on disk where memory is short. They are never computed
 * again: if an executor is lost with some of them, the query fails and repeats the micro-batch from
 * the state before it. So an operator with state runs once in a micro-batch.
 */
final private[share] class KeptRows private (packed: RDD[Array[Byte]], schema: StructType) {

  def rows: RDD[InternalRow] = {
    val fields = schema.size
    packed.mapPartitions(new UnpackedRows(_, fields), preservesPartitioning = true)
  }

  def release(): Unit = { val _ = packed.unpersist(blocking = false) }
}

private[share] object KeptRows {

  def apply(rows: RDD[InternalRow], schema: StructType, name: String): KeptRows = {
    val packed = rows.mapPartitions { its =>
      new PackedBlocks(its, UnsafeProjection.create(schema))
    }.setName(name)
    // It cuts the lineage: lost blocks are an error.
    packed.localCheckpoint()
    packed.foreachPartition(_.foreach(_ => ()))
    new KeptRows(packed, schema)
  }
}
