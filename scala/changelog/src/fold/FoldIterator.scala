package io.firesteel.changelog.fold

import io.firesteel.core.rows.{MemoryBudget, TaskMemoryBudget}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Folds rows by key and emits the result: after the last row, or whenever no more may be held; then
 * it continues with the remaining rows.
 *
 * Memory: as much as the budget grants, and at most `limits.entries` entries. An entry is a key, a
 * value or a row with its net change.
 */
abstract private[changelog] class FoldIterator(rows: Iterator[InternalRow], limits: FoldLimits)
  extends Iterator[InternalRow] {

  private[this] var out: Iterator[InternalRow] = Iterator.empty
  private[this] var ended = false

  /** Folds one row. */
  protected def fold(row: InternalRow): Unit

  /** Entries that are held. */
  protected def held: Int

  /** Bytes that are held, by estimate. */
  protected def bytes: Long

  /** Whether the last row and the next one belong together: they are emitted together. */
  protected def isBetween: Boolean = false

  /** Whether folding saves little: the remaining rows are then emitted unfolded. */
  protected def gainsLittle: Boolean = false

  /** Emits what is held; nothing is held after the iterator was read to its end. */
  protected def drain(): Iterator[InternalRow]

  /** Rows to emit after all others. */
  protected def atEnd(): Iterator[InternalRow] = Iterator.empty

  override def hasNext: Boolean = {
    while (!out.hasNext && !ended) {
      limits.budget.releaseTo(bytes)
      while (rows.hasNext && (isBetween || mayGrow) && !gainsLittle) fold(rows.next())
      if (held > 0) out = if (gainsLittle) drain() ++ rows else drain()
      else {
        ended = true
        out = atEnd()
      }
    }
    out.hasNext
  }

  /** At least one entry is accepted, or the loop would not end. */
  private def mayGrow: Boolean =
    held == 0 || (held < limits.entries && limits.budget.hold(bytes))

  override def next(): InternalRow =
    if (hasNext) out.next() else throw new NoSuchElementException("no more changes")
}

private[changelog] object FoldIterator {

  /**
   * Whether `rows` rows that left `left` entries show that folding saves little. As Flink's
   * `table.exec.local-hash-agg.adaptive` with its defaults, except for the number of rows:
   * micro-batches are small.
   */
  def gainsLittle(rows: Long, left: Int): Boolean = rows == sampleRows && left > sampleRows / 2

  private val sampleRows = 100000L
}

/** How much may be folded at once. One per operator and task. */
final private[changelog] case class FoldLimits(entries: Int, budget: MemoryBudget)

private[changelog] object FoldLimits {

  /** The limits of the running task. */
  def ofThisTask(entries: Int): FoldLimits =
    FoldLimits(entries, TaskMemoryBudget.ofThisTask(Long.MaxValue))

  /** Bytes of an object with a reference, its slot in a map and the map's entry. */
  val overhead: Long = 80L

  def bytesOf(row: InternalRow): Long = row match {
    case unsafe: UnsafeRow => unsafe.getSizeInBytes.toLong
    case other => overhead * other.numFields
  }
}
