package io.firesteel.lookup

import java.util.concurrent.CompletableFuture

import org.apache.spark.sql.catalyst.InternalRow

/**
 * Reads rows of the store by key. [[SupportsLookup.newLookup]] makes it on the driver; it is
 * serialized to the tasks and opened once for every partition. A task usually has one partition;
 * after `coalesce` it has several, each with a function of its own. Implement
 * [[SyncLookupFunction]], [[AsyncLookupFunction]] or both.
 *
 * An exception fails the task, which Spark runs again.
 */
sealed trait LookupFunction extends Serializable {

  /** Called once, before any lookup. Open connections here. */
  def open(task: TaskInfo): Unit = ()

  /** Called once, after the last row or when the task ends, also if `open` or a lookup failed. */
  def close(): Unit = ()

  /** Most keys of one call, at least 1. The setting `batchSize` may reduce it. */
  def maxBatchKeys: Int = Int.MaxValue

  /**
   * Whether the store may answer rows whose key was not asked, as databases do that ignore case.
   * The join then drops such rows. If false, such a row fails the query, because it shows a
   * mistake.
   */
  def mayAnswerOtherKeys: Boolean = false
}

/** A function that answers before it returns. One thread at a time calls it. */
trait SyncLookupFunction extends LookupFunction {

  /**
   * All rows of all keys given.
   *
   * @param keys distinct keys without nulls, as rows of `LookupContext.keys`
   * @return rows of `LookupContext.columns`, in any order; none, one or several for each key. All
   *   may be one reused row.
   */
  def lookup(keys: java.util.List[InternalRow]): java.util.Iterator[InternalRow]
}

/** A function that answers later, so that a task can have several questions under way. */
trait AsyncLookupFunction extends LookupFunction {

  /** As [[SyncLookupFunction.lookup]]; called again before earlier futures are complete. */
  def lookupAsync(
      keys: java.util.List[InternalRow]): CompletableFuture[java.util.List[InternalRow]]
}
