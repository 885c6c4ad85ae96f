package io.firesteel.shuffle

import scala.collection.mutable

import org.apache.spark.{OneToOneDependency, Partition, SparkContext, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow

/**
 * The remaining rows of a task, as input of a plan. It is empty until the same task hands over its
 * rows.
 */
final private[shuffle] class HandedOverRDD(context: SparkContext, partitions: Int)
  extends RDD[InternalRow](context, Nil) {

  @transient private lazy val waiting = mutable.Map.empty[Int, Iterator[InternalRow]]

  /** Makes these rows the result of the next computation of this partition. */
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
 * Emits rows unchanged until a switch decides that the remaining ones go through a computation.
 *
 * @param handed the input of that computation
 * @param rest the output of that computation, with as many partitions
 * @param newSwitch creates the switch of one partition
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
          private var left: Iterator[InternalRow] = _ // set after the switch

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
      case other => throw new IllegalArgumentException(s"$other is not a partition of this RDD")
    }
}

private[shuffle] object SwitchedRDD {
  final private case class Both(index: Int, ofRows: Partition, ofRest: Partition)
    extends Partition
}

/** Decides from the rows of one partition how long they are emitted unchanged. */
private[shuffle] trait Switch {
  def goesOn: Boolean
  def see(row: InternalRow): Unit

  /** Wraps the remaining rows, the input of the computation. */
  def before(rows: Iterator[InternalRow]): Iterator[InternalRow]

  /** Wraps the output of the computation. */
  def behind(rows: Iterator[InternalRow]): Iterator[InternalRow]
}
