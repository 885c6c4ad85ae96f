package io.firesteel.lookup

import java.util.concurrent.CompletableFuture

import org.apache.spark.sql.catalyst.InternalRow

/**
 * Reads rows of the store by key. Made by [[SupportsLookup.newLookup]] on the driver, serialised,
 * and opened once for every partition; a task mostly has one (`coalesce` gives it several, each with a
 * function of its own). Implement [[SyncLookupFunction]], [[AsyncLookupFunction]] or both.
 *
 * An exception fails the task, which Spark tries again.
 */
sealed trait LookupFunction extends Serializable {

  /** Called once, before any lookup. */
  def open(task: TaskInfo): Unit = ()

  /** Called once, after the last row or when the task ends, also when it failed. */
  def close(): Unit = ()

  /** Most keys that one call may be given; the setting `batchSize` may make it less. */
  def maxBatchKeys: Int = Int.MaxValue

  /**
   * Whether the store may answer rows whose key was not asked, as databases do that compare text
   * without case. Such rows are dropped. Without this they fail the query, as a sign of a mistake.
   */
  def mayAnswerOtherKeys: Boolean = false
}

/** A function that answers before it returns. It is called by one thread at a time. */
trait SyncLookupFunction extends LookupFunction {

  /**
   * All rows of all keys given.
   *
   * @param keys distinct keys without nulls, as rows of `LookupContext.keys`
   * @return rows of `LookupContext.columns`, in any order, for each key none, one or several; they
   *   may be one reused row
   */
  def lookup(keys: java.util.List[InternalRow]): java.util.Iterator[InternalRow]
}

/** A function that answers later, so that a task has several questions under way. */
trait AsyncLookupFunction extends LookupFunction {

  /** As [[SyncLookupFunction.lookup]]; called again before earlier futures are complete. */
  def lookupAsync(
      keys: java.util.List[InternalRow]): CompletableFuture[java.util.List[InternalRow]]
}
