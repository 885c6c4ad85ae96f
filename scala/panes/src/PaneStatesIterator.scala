package io.firesteel.panes

import io.firesteel.core.rows.{KeyIndex, KeyReader, MemoryBudget}
import org.apache.spark.sql.catalyst.expressions.{JoinedRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowJoiner

/**
 * Aggregates a task's rows by key and pane, and emits rows of keys, pane and state.
 *
 * If memory is refused, it emits and frees everything that it holds. So the same key and pane may
 * occur again. [[SlidingMerge]] treats such a row as another part of the pane.
 *
 * @param columns the number of columns of the part that `takenOf` returns
 * @param takenOf the part of a row that `add` reads
 * @param add adds this part to a state
 * @param paneAt the position of the pane in a row
 * @param keyAndPane makes a row of keys and pane
 * @param output joins a row of keys and pane with a state
 */
private[panes] final class PaneStatesIterator(
    input: Iterator[UnsafeRow],
    columns: Int,
    takenOf: UnsafeRow => UnsafeRow,
    add: (UnsafeRow, UnsafeRow) => Unit,
    keys: KeyIndex,
    keyReader: KeyReader,
    paneAt: Int,
    empty: UnsafeRow,
    keyAndPane: UnsafeProjection,
    output: UnsafeRowJoiner,
    budget: MemoryBudget)
  extends Iterator[UnsafeRow] {
  import PaneStatesIterator._

  private[this] val table = new PaneTable(empty)
  private[this] val rows = Array.fill(PaneTable.batch)(ownRow(columns))
  private[this] val groups = new Array[Int](PaneTable.batch)
  private[this] val panes = new Array[Long](PaneTable.batch)
  private[this] val found = new Array[Int](PaneTable.batch)

  private[this] val noPane = KeyIndex.numberRow()
  private[this] val joined = new JoinedRow
  private[this] var cursor: table.Cursor = _
  private[this] var groupOfPrefix = -1
  private[this] var prefix: UnsafeRow = _
  private[this] var knownGroups = 0
  private[this] var isRefused = false
  private[this] var isFound = false

  /** Number of refused requests for memory. */
  var refusals: Long = 0L

  override def hasNext: Boolean = {
    if (!isFound) isFound = advance()
    isFound
  }

  override def next(): UnsafeRow = {
    if (!hasNext) throw new NoSuchElementException
    isFound = false
    val group = cursor.group
    if (group != groupOfPrefix) {
      groupOfPrefix = group
      prefix = keyAndPane(joined(keys.key(group), noPane))
    }
    prefix.setLong(prefix.numFields - 1, cursor.pane)
    output.join(prefix, cursor.state)
  }

  private def advance(): Boolean = {
    var more = cursor != null && cursor.next()
    while (!more && input.hasNext) {
      if (cursor != null) forget()
      take()
      // As much is left for whoever keeps the rows, in this task.
      budget.releaseTo(table.bytes + keys.bytes)
      cursor = table.cursor
      more = cursor.next()
    }
    if (!more && cursor != null) {
      forget()
      cursor = null
    }
    more
  }

  private def forget(): Unit = {
    table.clear()
    keys.clear()
    knownGroups = 0
    groupOfPrefix = -1
    budget.releaseTo(0L)
  }

  /** Reads rows until the input ends or memory is refused. */
  private def take(): Unit = {
    isRefused = false
    // At least one batch is taken, whatever is granted.
    val _ = budget.hold(2 * (table.bytes + keys.bytes + table.growth))
    while (!isRefused && input.hasNext) {
      val number = fill()
      table.find(number, groups, panes, found)
      var i = 0
      while (i < number) {
        add(table.stateOf(found(i)), rows(i))
        i += 1
      }
      val growth = table.growth
      if (growth > 0L || keys.size > knownGroups) makeRoom(growth)
    }
    if (isRefused) refusals += 1
  }

  /** Copies the next rows, because the input may reuse one row object. */
  private def fill(): Int = {
    var number = 0
    while (number < table.batchSize && input.hasNext) {
      val row = input.next()
      groups(number) = keyReader.groupOf(row, keys)
      panes(number) = row.getLong(paneAt)
      rows(number).copyFrom(takenOf(row))
      number += 1
    }
    number
  }

  private def makeRoom(growth: Long): Unit = {
    knownGroups = keys.size + groupStep
    isRefused = !budget.hold(2 * (table.bytes + keys.bytes + growth))
  }
}

private object PaneStatesIterator {
  private val groupStep = 1024

  /** A row with its own bytes, to copy other rows to. */
  private def ownRow(columns: Int): UnsafeRow = {
    val row = new UnsafeRow(columns)
    row.pointTo(Array.emptyByteArray, 0)
    row
  }
}
