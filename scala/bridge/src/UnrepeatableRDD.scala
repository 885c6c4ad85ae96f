package org.apache.spark.sql.firesteel

import org.apache.spark.{Partition, TaskContext}
import org.apache.spark.rdd.{DeterministicLevel, RDD}
import org.apache.spark.sql.catalyst.InternalRow

/**
 * Rows that may differ when they are computed again.
 *
 * If an exchange above loses part of its files, Spark then computes all of its input again:
 * otherwise rows would be missing or duplicate. `DeterministicLevel` is `private[spark]`.
 */
final class UnrepeatableRDD(rows: RDD[InternalRow]) extends RDD[InternalRow](rows) {

  override protected def getPartitions: Array[Partition] = rows.partitions

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] =
    rows.iterator(split, context)

  override protected def getOutputDeterministicLevel: DeterministicLevel.Value =
    DeterministicLevel.INDETERMINATE
}
