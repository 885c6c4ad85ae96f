package io.firesteel.skew

import io.firesteel.core.plans.Collector
import io.firesteel.core.rows.MemoryBudget
import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.{UnsafeRowJoiner, UnsafeRowWriter}

/**
 * The half of percentiles below the exchange. Its input is rows, its output a row for each group:
 * the key, the states of the other aggregates, and for each column the group's numbers as bytes.
 *
 * It may send what it holds at any time, because the operator above the exchange merges the rows of
 * a group. It does so if Spark refuses memory, and after four million numbers if the groups are
 * large, for which another row costs little.
 *
 * For each row the caller gets the group from `groups`, adds the numbers to their columns and calls
 * `ended`. While it is busy the caller must take all rows. After the last row it calls `finish`.
 * The next call of `next` reuses the row.
 *
 * @param withStates joins keys and states
 * @param withNumbers joins those and the bytes of the columns
 */
private[skew] final class PartialPercentiles(
    val groups: Groups,
    hasNoKey: Boolean,
    columnCount: Int,
    withStates: UnsafeRowJoiner,
    withNumbers: UnsafeRowJoiner,
    budget: MemoryBudget)
  extends Collector {
  import PartialPercentiles._

  private[this] val columns = Array.fill(columnCount)(new GroupedNumbers)
  private[this] val isEmptyState = groups.areKeysAlone
  private[this] val noState =
    if (isEmptyState) null else groups.aggregates.state(groups.aggregates.newBuffer()).copy()
  private[this] val written = new UnsafeRowWriter(columnCount)
  private[this] val bytes = new BlockBytes

  private[this] var knownGroups = 0
  private[this] var heldRows = 0 // since everything was sent
  private[this] var nextLook = sendAfter
  private[this] var isSending = false
  private[this] var group = 0 // the group that is sent, and how many numbers of its columns were
  private[this] val sent = new Array[Int](columnCount)
  private[this] var isFirst = true // whether no row of the group was sent

  /** Input rows so far. */
  var inputRows: Long = 0L

  /** Output rows so far. */
  var outputRows: Long = 0L

  def column(i: Int): GroupedNumbers = columns(i)

  /** @param full whether a column returned that it is full */
  def ended(full: Boolean): Unit = {
    inputRows += 1
    heldRows += 1
    if (full || groups.size > knownGroups || groups.haveGrown) makeRoom()
  }

  /**
   * Ends the input. As Spark's partial aggregate does, it sends a row for no rows if there is no
   * key: adaptive execution may take an empty exchange for an empty result.
   */
  override def finish(): Unit = {
    if (hasNoKey && groups.size == 0 && outputRows == 0L) {
      val _ = groups.of(new UnsafeRow(0))
    }
    if (groups.size > 0) send()
  }

  /** Whether the caller must take rows before it adds the next. */
  def isBusy: Boolean = isSending

  override def hasNext: Boolean = isSending

  override def next(): UnsafeRow = {
    val key = groups.key(group)
    val joined = if (isEmptyState) key else withStates.join(key, stateOf(group))
    written.reset()
    written.zeroOutNullBytes()
    var isWhole = true
    var i = 0
    while (i < columnCount) {
      bytes.clear()
      sent(i) = columns(i).put(group, sent(i), bytes)
      if (sent(i) < columns(i).sizeOf(group)) isWhole = false
      written.write(i, bytes.array, 0, bytes.size)
      i += 1
    }
    val row = withNumbers.join(joined, written.getRow)
    outputRows += 1
    isFirst = isWhole
    if (isWhole) {
      Arrays.fill(sent, 0)
      group += 1
      if (group == groups.size) clear()
    }
    row
  }

  /** Of a group in several rows, the first has the state. */
  private def stateOf(group: Int): UnsafeRow =
    if (isFirst) groups.aggregates.state(groups.buffer(group)) else noState

  private def makeRoom(): Unit = {
    val needsPage = columns.exists(_.isFull)
    if (needsPage || groups.size >= knownGroups + groupStep || knownGroups == 0 || groups.haveGrown) {
      knownGroups = groups.size
      val most = columns.map(_.size).max
      val isLarge = most >= nextLook && knownGroups.toLong * largeGroup <= most
      def isRefused = !budget.hold(held) && !(groups.measured() && budget.hold(held)) &&
        (needsPage || heldRows >= fewestRows)
      if (isLarge || most >= mostNumbers || isRefused) send()
      else {
        if (most >= nextLook) nextLook = math.min(nextLook * 2, mostNumbers)
        if (needsPage) columns.foreach(column => if (column.isFull) column.grow())
      }
    }
  }

  private def held: Long = {
    var bytes = groups.bytesNow() + knownGroups * bytesOfGroup
    columns.foreach(column => bytes += column.bytes + column.growth)
    bytes
  }

  private def send(): Unit = {
    columns.foreach(_.arrange(groups.size))
    isSending = true
  }

  private def clear(): Unit = {
    groups.clear()
    columns.foreach(_.clear())
    knownGroups = 0
    heldRows = 0
    nextLook = sendAfter
    budget.releaseTo(0L)
    isSending = false
    group = 0
  }
}

private object PartialPercentiles {
  private val groupStep = 64
  private val bytesOfGroup = 8L // while a column is arranged
  private val sendAfter = 1 << 22
  private val largeGroup = 64L
  private val mostNumbers = 1 << 28
  private val fewestRows = 1024 // a row for each row costs more than the memory of a thousand
}
