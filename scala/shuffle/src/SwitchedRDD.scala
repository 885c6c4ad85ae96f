package io.firesteel.shuffle

import scala.collection.mutable

import org.apache.spark.{OneToOneDependency, Partition, SparkContext, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow

/** What a task has left for a plan to read: no rows until some are handed over, in the same task. */
final private[shuffle] class HandedOverRDD(context: SparkContext, partitions: Int)
  extends RDD[InternalRow](context, Nil) {

  @transient private lazy val waiting = mutable.Map.empty[Int, Iterator[InternalRow]]

  /** The next computation of this partition gives these rows. */
  def handOver(partition: Int, rows: Iterator[InternalRow]): Unit = waiting(partition) = rows

  override protected def getPartitions: Array[Partition] =
    Array.tabulate(partitions)(HandedOverRDD.Place(_))

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] =
    waiting.remove(split.index).getOrElse(Iterator.empty)
}

private[shuffle] object HandedOverRDD {
  final private case class Place(index: Int) extends Partition
}

/**
 * Rows that are handed on one by one, until these had better go through a computation.
 *
 * @param handed what that computation reads
 * @param rest what comes out of it, in as many partitions
 * @param newSwitch says when, for one partition
 */
final private[shuffle] class SwitchedRDD(
    rows: RDD[InternalRow],
    handed: HandedOverRDD,
    rest: RDD[InternalRow],
    newSwitch: () => Switch)
  extends RDD[InternalRow](
    rows.context,
    Seq(new OneToOneDependency(rows), new OneToOneDependency(rest))) {
  import SwitchedRDD.Both

  override protected def getPartitions: Array[Partition] =
    rows.partitions.zip(rest.partitions).map { case (one, other) => Both(one.index, one, other) }

  override protected def getPreferredLocations(split: Partition): Seq[String] = split match {
    case Both(_, ofRows, _) => rows.preferredLocations(ofRows)
    case _ => Nil
  }

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] =
    split match {
      case Both(index, ofRows, ofRest) =>
        val input = rows.iterator(ofRows, context)
        val switch = newSwitch()
        new Iterator[InternalRow] {
          private var left: Iterator[InternalRow] = _ // once the rows are handed on no more

          override def hasNext: Boolean = {
            if (left == null && !(switch.goesOn && input.hasNext)) left = aggregated()
            left == null || left.hasNext
          }

          override def next(): InternalRow =
            if (!hasNext) Iterator.empty.next()
            else if (left != null) left.next()
            else {
              val row = input.next()
              switch.see(row)
              row
            }

          private def aggregated(): Iterator[InternalRow] =
            if (switch.goesOn) Iterator.empty
            else {
              handed.handOver(index, switch.before(input))
              switch.behind(rest.iterator(ofRest, context))
            }
        }
      case other => throw new IllegalArgumentException(s"$other is none of these partitions")
    }
}

private[shuffle] object SwitchedRDD {
  final private case class Both(index: Int, ofRows: Partition, ofRest: Partition)
    extends Partition
}

/** Decides, as it sees the rows of one partition, until when they are handed on. */
private[shuffle] trait Switch {
  def goesOn: Boolean
  def see(row: InternalRow): Unit

  /** The rows that are left, which go into the computation. */
  def before(rows: Iterator[InternalRow]): Iterator[InternalRow]

  /** What comes out of it. */
  def behind(rows: Iterator[InternalRow]): Iterator[InternalRow]
}
