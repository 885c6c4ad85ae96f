package io.firesteel.skew

import io.firesteel.core.rows.MemoryBudget
import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter

/**
 * The half of a distinct aggregation that is below the exchange: rows in, blocks for buckets out.
 *
 * It finds duplicates among the rows of its task and may forget what it found at any time, since
 * duplicates are found again above the exchange. So when memory is refused it sends on all that it
 * holds; and a column whose values turn out new, one after the other, is sent on without a look.
 *
 * Of a row it is told the group first, which the caller asks `groups` for, then the values, each by its
 * [[PartialColumn]], and then that it has `ended`. Between two rows the blocks that are ready are to be
 * taken, until there is none; after the last row `finish` is to be called. As it is an iterator, it gives
 * a row of a bucket's name and a block, which the next call uses again.
 *
 * @param numbers for each column whether its values are numbers, else rows
 * @param fields for each column those of a value
 * @param names of the buckets
 * @param sampleValues values of a column after which it is judged
 * @param maxNewShare the share of new ones among the latter half of them above which the column is
 *   sent on as it comes
 */
private[skew] final class PartialDistinct(
    val groups: Groups,
    numbers: Array[Boolean],
    fields: Array[Int],
    names: Array[Int],
    budget: MemoryBudget,
    sampleValues: Int,
    maxNewShare: Double)
  extends Iterator[UnsafeRow] {

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
  private[this] var isSending = false // all that is held
  private[this] var leaving = -1 // a column that goes on in another way, and its place
  private[this] var leavingFrom = 0
  private[this] var sending = 0 // a column, and its place to go on from
  private[this] var sendingFrom = 0
  private[this] var toldGroups = 0 // those of rows that have ended
  private[this] var knownGroups = 0
  private[this] var mostGroups = Int.MaxValue
  private[this] val out = new UnsafeRowWriter(2)

  /** Rows that have ended. */
  var inputRows: Long = 0L

  /** Blocks that were taken. */
  var outputRows: Long = 0L

  /** Values that were sent on without a look for duplicates. */
  def passedOn: Long = columns.map(_.passedOn).sum

  def column(i: Int): PartialColumn = columns(i)

  /**
   * Ends a row.
   *
   * @param group that of the row
   * @param named whether a value was added to it
   * @param full whether a column said that it is full
   */
  def ended(group: Int, named: Boolean, full: Boolean): Unit = {
    val isNew = groups.size > toldGroups
    // Whether or not a value follows, a group that begins without one must be known above.
    if (isNew && groups.areKeysAlone && !named) writer.state(group)
    // A group needs its place in all columns.
    if (isNew || full) makeRoom()
    toldGroups = groups.size
    inputRows += 1
    // Groups that do not come again are better sent on while they still are in the cache.
    if (inputRows == sampleValues && groups.size > maxNewShare * sampleValues)
      mostGroups = PartialDistinct.fewGroups
  }

  /** Ends the input. */
  def finish(): Unit = isSending = groups.size > 0

  /** Whether no row may be told of before all that is ready was taken. */
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
    isSending = columns.exists(!_.makeRoom(more => budget.hold(held + more)))
    if (!isSending && groups.size > knownGroups + PartialDistinct.groupStep) {
      knownGroups = groups.size
      isSending = knownGroups > mostGroups || !budget.hold(held)
    }
    leaving = columns.indexWhere(_.isLeaving)
  }

  private def held: Long = {
    var bytes = groups.bytes
    columns.foreach(bytes += _.bytes)
    bytes
  }

  /** Sends on some of what one column holds. */
  private def leaveSome(): Unit = {
    leavingFrom = columns(leaving).drain(leavingFrom)
    if (leavingFrom < 0) {
      leavingFrom = 0
      columns(leaving).left()
      leaving = columns.indexWhere(_.isLeaving)
    }
  }

  /**
   * Sends on some of all that is held, and begins anew after the last. Blocks are taken in between: of a
   * value that has a code there may be many copies.
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
  private val fewGroups = 64 << 10
}
