package io.firesteel.core.plans

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Holds what becomes of a task's rows. As an iterator it has the rows that are ready to go on.
 */
private[firesteel] trait Collector extends Iterator[UnsafeRow] {

  /** Ends the input, so that all that is held is ready. */
  def finish(): Unit
}

/** The rows of a [[Collector]], without generated code. */
private[firesteel] abstract class CollectedRows(rows: Iterator[UnsafeRow], collector: Collector)
  extends Iterator[UnsafeRow] {

  private[this] var isDone = false

  /** Gives a row to the collector. */
  protected def take(row: UnsafeRow): Unit

  override def hasNext: Boolean = {
    while (!collector.hasNext && !isDone)
      if (rows.hasNext) take(rows.next())
      else {
        collector.finish()
        isDone = true
      }
    collector.hasNext
  }

  override def next(): UnsafeRow = if (hasNext) collector.next() else Iterator.empty.next()
}
