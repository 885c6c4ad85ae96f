package org.apache.spark.sql.firesteel

import org.apache.spark.{Partition, TaskContext}
import org.apache.spark.rdd.{DeterministicLevel, RDD}
import org.apache.spark.sql.catalyst.InternalRow

/**
 * Rows that come out otherwise when they are computed again.
 *
 * When an exchange above has lost part of its files, Spark then computes all of them anew: rows of
 * some would else be missing or twice. `DeterministicLevel` is `private[spark]`.
 */
final class UnrepeatableRDD(rows: RDD[InternalRow]) extends RDD[InternalRow](rows) {

  override protected def getPartitions: Array[Partition] = rows.partitions

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] =
    rows.iterator(split, context)

  override protected def getOutputDeterministicLevel: DeterministicLevel.Value =
    DeterministicLevel.INDETERMINATE
}
