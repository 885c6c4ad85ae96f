package io.firesteel.skew

import scala.collection.mutable

import io.firesteel.core.{KeyReader, MemoryBudget}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The half of a distinct aggregation that is below the exchange: rows in, blocks for buckets out.
 *
 * It finds duplicates among the rows of its task and may forget what it found at any time, since
 * duplicates are found again above the exchange. So when memory is refused it sends on all that it
 * holds; and a column whose values turn out new, one after the other, is sent on without a look.
 *
 * @param rows with the key, a field for each column, which is null where the row adds nothing to
 *   it, and what the other aggregates read
 * @param numbers for each column whether its values are numbers, else rows
 * @param fields for each column those of a value
 * @param valueAt for each column the place of its field
 * @param sampleValues values of a column after which it is judged
 * @param maxNewShare the share of new ones among the latter half of them above which the column is
 *   sent on as it comes
 */
private[skew] final class PartialDistinct(
    rows: Iterator[UnsafeRow],
    groups: Groups,
    numbers: Array[Boolean],
    fields: Array[Int],
    keys: KeyReader,
    valueAt: Array[Int],
    buckets: Int,
    budget: MemoryBudget,
    sampleValues: Int,
    maxNewShare: Double)
  extends Iterator[(Int, Array[Byte])] {

  private[this] val ready = mutable.Queue.empty[(Int, Array[Byte])]
  private[this] val writer = new BlockWriter(
    groups,
    numbers,
    buckets,
    Hashes.task(buckets),
    (bucket, block) => ready += (bucket -> block))

  private[this] val columns = Array.tabulate(numbers.length) { i =>
    new PartialColumn(i, numbers(i), fields(i), groups, writer, sampleValues, maxNewShare)
  }
  private[this] var isSending = false // all that is held
  private[this] var leaving = -1 // a column that goes on in another way, and its place
  private[this] var leavingFrom = 0
  private[this] var sending = 0 // a column, and its place to go on from
  private[this] var sendingFrom = 0
  private[this] var knownGroups = 0
  private[this] var mostGroups = Int.MaxValue
  private[this] var seenRows = 0

  /** Values that were sent on without a look for duplicates. */
  def passedOn: Long = columns.map(_.passedOn).sum

  override def hasNext: Boolean = {
    while (ready.isEmpty && goOn()) {}
    ready.nonEmpty
  }

  override def next(): (Int, Array[Byte]) =
    if (hasNext) ready.dequeue() else Iterator.empty.next()

  /** Does a little more; false when there is nothing left to do. */
  private def goOn(): Boolean =
    if (isSending) {
      sendSome()
      true
    } else if (leaving >= 0) {
      leaveSome()
      true
    } else if (rows.hasNext) {
      take(rows.next())
      true
    } else {
      isSending = groups.size > 0
      isSending
    }

  private def take(row: UnsafeRow): Unit = {
    val before = groups.size
    val group = groups.of(row, keys)
    if (!groups.areKeysAlone) groups.aggregates.update(groups.buffer(group), row)
    var named = false
    var mustGrow = groups.size > before // a group needs its place in all columns
    var column = 0
    while (column < numbers.length) {
      val at = valueAt(column)
      if (!row.isNullAt(at)) {
        named = true
        columns(column).add(group, row, at)
        if (columns(column).isFull) mustGrow = true
      }
      column += 1
    }
    // Whether or not a value follows, a group that begins without one must be known above.
    if (groups.areKeysAlone && groups.size > before && !named)
      writer.state(group)
    // Not before the row is done, since sending ends its group's number.
    if (mustGrow) makeRoom()
    if (seenRows < sampleValues) {
      seenRows += 1
      // Groups that do not come again are better sent on while they still are in the cache.
      if (seenRows == sampleValues && groups.size > maxNewShare * sampleValues)
        mostGroups = PartialDistinct.fewGroups
    }
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
