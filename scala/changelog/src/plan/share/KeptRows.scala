package io.firesteel.changelog.plan.share

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.firesteel.forgetRdd
import org.apache.spark.sql.types.StructType

/**
 * Rows that the executors keep in memory, and on disk where memory is short. They are never computed
 * again: if an executor is lost with some of them, the query fails and repeats the micro-batch from
 * the state before it. So an operator with state runs once in a micro-batch.
 */
final private[share] class KeptRows private (
    private val packed: RDD[Array[Byte]],
    schema: StructType,
    val isEmpty: Boolean) {

  def rows: RDD[InternalRow] = {
    val fields = schema.size
    packed.mapPartitions(new UnpackedRows(_, fields), preservesPartitioning = true)
  }

  def release(): Unit = forgetRdd(packed)
}

private[share] object KeptRows {

  def apply(rows: RDD[InternalRow], schema: StructType, name: String): KeptRows = {
    val packed = rows.mapPartitions { its =>
      new PackedBlocks(its, UnsafeProjection.create(schema))
    }
    kept(packed, schema, name)
  }

  /**
   * The same rows if a micro-batch is repeated.
   *
   * @param mustRun whether what computes the rows must run for what else it does
   */
  def durable(
      rows: RDD[InternalRow],
      schema: StructType,
      name: String,
      mustRun: Boolean,
      files: DurableRows): KeptRows = files.read(rows.sparkContext) match {
    case Some(blocks) =>
      if (mustRun) rows.foreachPartition(_.foreach(_ => ()))
      kept(blocks, schema, name)
    case None =>
      val its = apply(rows, schema, name)
      files.write(its.packed)
      its
  }

  private def kept(packed: RDD[Array[Byte]], schema: StructType, name: String): KeptRows = {
    packed.setName(name)
    // It cuts the lineage: lost blocks are an error.
    packed.localCheckpoint()
    val blocks =
      try packed.count()
      catch {
        case failed: Throwable =>
          forgetRdd(packed)
          throw failed
      }
    new KeptRows(packed, schema, isEmpty = blocks == 0L)
  }
}
