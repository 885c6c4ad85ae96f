package io.firesteel.shuffle

import io.firesteel.core.plans.SourceSample
import org.apache.spark.util.AccumulatorV2

/**
 * Hashes of the keys of every n-th row. n doubles whenever `limit` hashes are kept. A row that is
 * not sampled costs a subtraction.
 */
private[shuffle] final class SampledKeys(limit: Int) extends Serializable {

  // Even: halving then keeps every second hash.
  private val hashes = new Array[Long](math.max((limit + 1) / 2 * 2, 2))
  private var size = 0
  private var left = 1L

  /** Rows for each hash kept. */
  var stride: Long = 1L

  def kept: Array[Long] = hashes.take(size)

  /** Called for every row: whether to sample it. */
  def wantsNext(): Boolean = {
    left -= 1
    left == 0
  }

  def add(hash: Long): Unit = {
    if (size == hashes.length) halve()
    hashes(size) = hash
    size += 1
    left = stride
  }

  private def halve(): Unit = {
    size /= 2
    (0 until size).foreach(i => hashes(i) = hashes(2 * i))
    stride *= 2
  }
}

/** The samples of a stage's tasks, by partition: a task that runs twice counts once. */
private[shuffle] final class KeyCounts
  extends AccumulatorV2[(Int, SampledKeys), Map[Int, SampledKeys]] {

  private var samples = Map.empty[Int, SampledKeys]

  override def isZero: Boolean = samples.isEmpty
  override def reset(): Unit = samples = Map.empty
  override def value: Map[Int, SampledKeys] = samples
  override def add(sample: (Int, SampledKeys)): Unit = samples += sample
  override def merge(other: AccumulatorV2[(Int, SampledKeys), Map[Int, SampledKeys]]): Unit =
    samples ++= other.value

  override def copy(): KeyCounts = {
    val same = new KeyCounts
    same.samples = samples
    same
  }

  /** `None` if there are too few rows. */
  def facts: Option[KeyFacts] = {
    val weights = samples.values.toSeq.flatMap(s => s.kept.map(_ -> s.stride))
    if (weights.size < KeyCounts.fewest) None
    else {
      val rows = weights.map(_._2).sum
      val ofOne = weights.groupMapReduce(_._1)(_._2)(_ + _)
      Some(KeyFacts(
        ofOne.size,
        ofOne.values.max.toDouble / rows,
        isShareKnown = true,
        groupRate = Some(ofOne.size.toDouble / weights.size),
        bytes = None,
        s"${weights.size} of $rows rows of a shuffle that has run"
      ))
    }
  }
}

private[shuffle] object KeyCounts {

  /** Fewest rows of a sample, as for a sample of a source. */
  private val fewest = SourceSample.fewest

  /** Fewest rows that a task keeps: with them its largest key is seen. */
  val fewestOfTask = 64
}
