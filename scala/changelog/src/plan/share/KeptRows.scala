package io.firesteel.changelog.plan.share

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.core.changes.EmittedRows

import org.apache.spark.{Partition, Partitioner, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.firesteel.forgetRdd
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.firesteel.PartitionRows

/**
 * Rows that the executors keep in memory, and on disk where memory is short. They are never computed
 * again: if an executor is lost with some of them, the query fails and repeats the micro-batch from
 * the state before it. So an operator with state runs once in a micro-batch.
 */
final private[share] class KeptRows private (
    private val packed: RDD[Array[Byte]],
    schema: StructType,
    isEmitted: Boolean,
    val isEmpty: Boolean) {

  def rows: RDD[InternalRow] = new KeptRowsRDD(packed, schema.size, isEmitted)

  def release(): Unit = forgetRdd(packed)
}

final private class KeptRowsRDD(
    packed: RDD[Array[Byte]],
    fields: Int,
    override val isEmitted: Boolean)
  extends RDD[InternalRow](packed)
  with EmittedRows.Kept {
  override val partitioner: Option[Partitioner] = packed.partitioner
  override protected def getPartitions: Array[Partition] = firstParent[Array[Byte]].partitions
  override def compute(split: Partition, task: TaskContext): Iterator[InternalRow] =
    new UnpackedRows(firstParent[Array[Byte]].iterator(split, task), fields)
}

private[share] object KeptRows {

  def apply(rows: RDD[InternalRow], schema: StructType, name: String): KeptRows = {
    val packed = PartitionRows.mapped(rows) { its =>
      new PackedBlocks(its, ColumnProjection(schema))
    }
    kept(packed, schema, name, EmittedRows.isOfState(rows))
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
      files: DurableRows): KeptRows = {
    def same(blocks: RDD[Array[Byte]]) = kept(blocks, schema, name, EmittedRows.isOfState(rows))
    files.read(rows.sparkContext) match {
      case Some(blocks) =>
        if (mustRun) rows.foreachPartition(_.foreach(_ => ()))
        same(blocks)
      case None =>
        val its = apply(rows, schema, name)
        files.write(its.packed)
        // A task that ran twice has other values on each executor; the files have those of one.
        its.release()
        files.read(rows.sparkContext).map(same)
          .getOrElse(throw new IllegalStateException(s"the rows of $name are not there"))
    }
  }

  private def kept(
      packed: RDD[Array[Byte]],
      schema: StructType,
      name: String,
      isEmitted: Boolean): KeptRows = {
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
    new KeptRows(packed, schema, isEmitted, isEmpty = blocks == 0L)
  }
}
