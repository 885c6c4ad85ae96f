package io.firesteel.skew

import io.firesteel.core.plans.Collector
import io.firesteel.core.rows.MemoryBudget
import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter

/**
 * The half of a distinct aggregation below the exchange. Its input is rows, its output blocks for
 * buckets.
 *
 * It finds duplicates among the rows of its task. It may drop what it found at any time, because
 * the operator above the exchange finds duplicates again. If Spark refuses memory, it sends
 * everything it holds. A column whose values are almost all new is sent without looking for
 * duplicates.
 *
 * For each row the caller gets the group from `groups`, adds the values to their [[PartialColumn]]s
 * and calls `ended`. Between two rows the caller must take all blocks that are ready. After the
 * last row it calls `finish`. As an iterator it returns rows with a bucket's name and a block; the
 * next call reuses the row.
 *
 * @param numbers for each column whether its values are numbers; otherwise they are rows
 * @param fields for each column the number of fields of a value
 * @param names of the buckets
 * @param sampleValues values of a column after which it is judged
 * @param maxNewShare share of new values in the second half of the sample above which a column
 *   stops looking for duplicates
 */
private[skew] final class PartialDistinct(
    val groups: Groups,
    numbers: Array[Boolean],
    fields: Array[Int],
    names: Array[Int],
    budget: MemoryBudget,
    sampleValues: Int,
    maxNewShare: Double)
  extends Collector {

  private[this] val ready = mutable.Queue.empty[(Int, Array[Byte])]
  private[this] val writer = new BlockWriter(
    groups,
    numbers,
    names.length,
    Hashes.task(names.length),
    (bucket, block) => ready += (bucket -> block))

  private[this] val columns = Array.tabulate(numbers.length) { i =>
    new PartialColumn(i, numbers(i), fields(i), groups, writer, sampleValues, maxNewShare)
  }
  private[this] var isSending = false // while everything held is sent
  private[this] var leaving = -1 // a column that changes its form, and the position in it
  private[this] var leavingFrom = 0
  private[this] var sending = 0 // the column that is sent, and the position in it
  private[this] var sendingFrom = 0
  private[this] var toldGroups = 0 // groups of rows that have ended
  private[this] var knownGroups = 0
  private[this] var askedBytes = PartialDistinct.askEvery // of the writer
  private[this] var mostGroups = Int.MaxValue
  private[this] val out = new UnsafeRowWriter(2)

  /** Input rows so far. */
  var inputRows: Long = 0L

  /** Blocks taken so far. */
  var outputRows: Long = 0L

  /** Values sent without looking for duplicates. */
  def passedOn: Long = columns.map(_.passedOn).sum

  def column(i: Int): PartialColumn = columns(i)

  /**
   * Ends a row.
   *
   * @param group the row's group
   * @param named whether a value was added to it
   * @param full whether a column returned that it is full
   */
  def ended(group: Int, named: Boolean, full: Boolean): Unit = {
    val isNew = groups.size > toldGroups
    // The operator above must know a group even if no value follows.
    if (isNew && groups.areKeysAlone && !named) writer.state(group)
    // A new group needs room in all columns.
    if (isNew || full || groups.haveGrown || writer.bytes > askedBytes) makeRoom()
    toldGroups = groups.size
    inputRows += 1
    // A group that has no more rows is cheapest to send while it is in the cache.
    if (inputRows == sampleValues && groups.size > maxNewShare * sampleValues)
      mostGroups = PartialDistinct.fewGroups
  }

  /** Ends the input. */
  override def finish(): Unit = isSending = groups.size > 0

  /** Whether the caller must take blocks before it adds the next row. */
  def isBusy: Boolean = isSending || leaving >= 0 || ready.nonEmpty

  override def hasNext: Boolean = {
    while (ready.isEmpty && isBusy) if (isSending) sendSome() else leaveSome()
    ready.nonEmpty
  }

  override def next(): UnsafeRow = if (!hasNext) Iterator.empty.next()
  else {
    val (bucket, block) = ready.dequeue()
    outputRows += 1
    out.reset()
    out.write(0, names(bucket))
    out.write(1, block)
    out.getRow
  }

  private def makeRoom(): Unit = {
    isSending = columns.exists(!_.makeRoom(holds(_)))
    val hasGrown = groups.haveGrown || writer.bytes > askedBytes
    if (!isSending && (hasGrown || groups.size > knownGroups + PartialDistinct.groupStep)) {
      knownGroups = groups.size
      isSending = knownGroups > mostGroups || !holds(0L)
    }
    leaving = columns.indexWhere(_.isLeaving)
  }

  /** Whether what is held may grow. Blocks that wait for more values are written first. */
  private def holds(more: Long): Boolean = {
    val may = budget.hold(held + more) || writer.bytes > 0L && {
      writer.flush()
      budget.hold(held + more)
    } || groups.measured() && budget.hold(held + more)
    askedBytes = writer.bytes + PartialDistinct.askEvery
    may
  }

  private def held: Long = {
    var bytes = groups.bytesNow() + writer.bytes
    columns.foreach(bytes += _.bytes)
    bytes
  }

  /** Sends some of the values of the column that changes its form. */
  private def leaveSome(): Unit = {
    leavingFrom = columns(leaving).drain(leavingFrom)
    if (leavingFrom < 0) {
      leavingFrom = 0
      columns(leaving).left()
      leaving = columns.indexWhere(_.isLeaving)
    }
  }

  /**
   * Sends some of everything held, and starts again after the last. The caller takes blocks in
   * between: a value with a code may be copied many times.
   */
  private def sendSome(): Unit =
    if (sending < columns.length) {
      sendingFrom = columns(sending).drain(sendingFrom)
      if (sendingFrom < 0) {
        sendingFrom = 0
        sending += 1
      }
    } else if (!groups.areKeysAlone && sendingFrom < groups.size) {
      val until = math.min(sendingFrom + DistinctValues.someSlots, groups.size)
      writer.states(sendingFrom, until)
      sendingFrom = until
    } else {
      writer.flush()
      columns.foreach(_.clear())
      groups.clear()
      toldGroups = 0
      knownGroups = 0
      budget.releaseTo(0L)
      isSending = false
      leaving = -1
      sending = 0
      sendingFrom = 0
    }
}

private[skew] object PartialDistinct {
  private val groupStep = 64
  private val askEvery = 1L << 20
  private val fewGroups = 64 << 10
}
