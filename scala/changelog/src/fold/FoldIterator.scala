package io.firesteel.changelog.fold

import io.firesteel.core.rows.{MemoryBudget, TaskMemoryBudget}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Folds rows by key and hands on what is left of them: after all rows, or after as many as may be
 * held at once, and then again for the rows that follow.
 *
 * Memory: as much as the budget grants, and no more than `limits.entries` entries, each a key, a value
 * or a row with its net change.
 */
abstract private[changelog] class FoldIterator(rows: Iterator[InternalRow], limits: FoldLimits)
  extends Iterator[InternalRow] {

  private[this] var out: Iterator[InternalRow] = Iterator.empty
  private[this] var ended = false

  /** Takes a row in. */
  protected def fold(row: InternalRow): Unit

  /** Entries that are held. */
  protected def held: Int

  /** Bytes that are held, by estimate. */
  protected def bytes: Long

  /** Whether folding is not worth its time: what has not been folded yet is then handed on as it is. */
  protected def gainsLittle: Boolean = false

  /** Hands on what is held, and holds nothing once that has been read. */
  protected def drain(): Iterator[InternalRow]

  /** What comes after everything. */
  protected def atEnd(): Iterator[InternalRow] = Iterator.empty

  override def hasNext: Boolean = {
    while (!out.hasNext && !ended) {
      limits.budget.releaseTo(bytes)
      while (rows.hasNext && mayGrow && !gainsLittle) fold(rows.next())
      if (held > 0) out = if (gainsLittle) drain() ++ rows else drain()
      else {
        ended = true
        out = atEnd()
      }
    }
    out.hasNext
  }

  /** One entry is always taken, or there would be no end. */
  private def mayGrow: Boolean =
    held == 0 || (held < limits.entries && limits.budget.hold(bytes))

  override def next(): InternalRow =
    if (hasNext) out.next() else throw new NoSuchElementException("no more changes")
}

private[changelog] object FoldIterator {

  /**
   * Whether so many rows tell that folding gains little, when that many entries are left of them
   * (Flink: `table.exec.local-hash-agg.adaptive`, of which these are the defaults but for the number of
   * rows: micro-batches are small).
   */
  def gainsLittle(rows: Long, left: Int): Boolean = rows == sampleRows && left > sampleRows / 2

  private val sampleRows = 100000L
}

/** How much may be folded at once. One per operator and task. */
final private[changelog] case class FoldLimits(entries: Int, budget: MemoryBudget)

private[changelog] object FoldLimits {

  /** Those of the running task. */
  def ofThisTask(entries: Int): FoldLimits =
    FoldLimits(entries, TaskMemoryBudget.ofThisTask(Long.MaxValue))

  /** Bytes of an object that refers to another, of its place in a map and of the entry there. */
  val overhead: Long = 80L

  def bytesOf(row: InternalRow): Long = row match {
    case unsafe: UnsafeRow => unsafe.getSizeInBytes.toLong
    case other => overhead * other.numFields
  }
}
