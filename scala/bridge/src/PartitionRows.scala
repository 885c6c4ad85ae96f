package org.apache.spark.sql.firesteel

import scala.reflect.ClassTag

import org.apache.spark.{Partition, TaskContext}
import org.apache.spark.rdd.{RDD, ZippedPartitionsBaseRDD, ZippedPartitionsPartition}

/**
 * Functions over the rows of each partition, for operators that run in each micro-batch.
 *
 * `RDD.mapPartitions` looks for what a user's function captures without need: it reads the class from
 * its jar and serializes the function once more than the scheduler does. Functions of operators
 * capture only what tasks read.
 */
object PartitionRows {

  def mapped[T, U: ClassTag](rows: RDD[T])(work: Iterator[T] => Iterator[U]): RDD[U] =
    rows.mapPartitionsInternal(work)

  /** For each partition the unread rows of all inputs, which have as many partitions. */
  def together[T](inputs: Seq[RDD[T]]): RDD[Seq[Iterator[T]]] = new Together(inputs)

  final private class Together[T](inputs: Seq[RDD[T]])
    extends ZippedPartitionsBaseRDD[Seq[Iterator[T]]](inputs.head.sparkContext, inputs) {

    override def compute(partition: Partition, context: TaskContext): Iterator[Seq[Iterator[T]]] = {
      val parts = partition.asInstanceOf[ZippedPartitionsPartition].partitions
      Iterator.single(rdds.zip(parts).map { case (rows, part) =>
        rows.iterator(part, context).asInstanceOf[Iterator[T]]
      })
    }
  }
}
