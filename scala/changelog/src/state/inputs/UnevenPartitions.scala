package io.firesteel.changelog.state.inputs

import io.firesteel.changelog.common.ChangelogConf

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkContext
import org.apache.spark.util.CollectionAccumulator

/**
 * The rows of state in each partition of an operator that is distributed by some of its keys. If one
 * partition has most of them, the query is told so once in a program: it was told that these keys
 * spread the rows.
 */
final private[state] class UnevenPartitions private (
    rows: CollectionAccumulator[UnevenPartitions.Counted]) extends Serializable {
  import UnevenPartitions._

  def count(partition: Int, rowsOfState: Long): Unit = rows.add(Counted(partition, rowsOfState))

  /** The warning after a micro-batch, once; none if the rows are spread. */
  def warning(operator: String, checkpoint: String, keys: Keys): Option[String] = {
    // A task that ran twice counted twice.
    val counted = rows.value.asScala.map(its => its.partition -> its.rows).toMap
    for {
      (partition, most) <- largest(counted)
      if warned.add((checkpoint, operator))
    } yield s"$operator is distributed by ${text(keys.by)}, some of its keys " +
      s"${text(keys.all)}, and partition $partition has $most of the " +
      s"${counted.values.sum} rows of state in ${counted.size} partitions. Its task takes as much " +
      "longer. If that is too long, start with a new checkpoint and " +
      s"${ChangelogConf.PARTIAL_KEY.key} = false: all keys then spread the rows."
  }
}

private[state] object UnevenPartitions {

  final case class Counted(partition: Int, rows: Long)

  /** @param by those of all keys by whose hash rows are distributed */
  final case class Keys(all: Seq[String], by: Seq[String])

  private def text(names: Seq[String]): String = names.mkString("[", ", ", "]")

  /** Fewer rows are no matter, however they lie. */
  val enough: Long = 100000L

  private val warned = ConcurrentHashMap.newKeySet[(String, String)]()

  def in(context: SparkContext): UnevenPartitions =
    new UnevenPartitions(context.collectionAccumulator[Counted]("rows of state by partition"))

  /** The partition with far more rows than the mean: four times, or nine tenths of few partitions. */
  def largest(rows: Map[Int, Long]): Option[(Int, Long)] =
    if (rows.size < 2) None
    else {
      val mean = rows.values.sum.toDouble / rows.size
      Some(rows.maxBy(_._2)).filter { case (_, most) =>
        most >= enough && most >= mean * math.min(4.0, 0.9 * rows.size)
      }
    }
}
