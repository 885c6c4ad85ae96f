package io.firesteel.lookup.files

import io.firesteel.lookup.{KnownByValue, SyncLookupFunction, TaskInfo}
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

/**
 * Answers keys from their buckets. A bucket is loaded when it is asked for the first time.
 *
 * Under the custom shuffle a task is asked only keys of its own buckets, so it loads only these.
 * Without it, a task loads every bucket for which it gets a key.
 */
private[files] final class FilesLookup(source: BucketSource)
  extends SyncLookupFunction
  with KnownByValue {

  /** Includes the files, so that no cache of older files is used. */
  override def value: AnyRef = (source.origin, source.layout, source.files)

  @transient private var buckets: OpenBuckets = _

  override def open(task: TaskInfo): Unit = {
    val context = TaskContext.get()
    if (context == null) {
      throw new IllegalStateException("a lookup function is opened on the thread of a task")
    }
    buckets = new OpenBuckets(source, context)
    val _ = context.addTaskCompletionListener[Unit](_ => close())
  }

  override def lookup(keys: java.util.List[InternalRow]): java.util.Iterator[InternalRow] =
    answers.of(keys.iterator())

  override def close(): Unit = if (buckets != null) buckets.close()

  @transient private lazy val answers: Answers = {
    val keys = source.origin.keys
    new Answers(
      buckets,
      source.layout.buckets,
      BucketRule.of(source.layout, keys).map(_.compile()),
      LookupKey.compile(keys, keys),
      source.origin.columns.length)
  }
}

/**
 * Finds the rows of keys.
 *
 * @param count number of buckets
 * @param bucketOf the bucket of a key; none if the keys do not determine it
 */
private[files] final class Answers(
    buckets: Int => BucketIndex,
    count: Int,
    bucketOf: Option[InternalRow => Int],
    keyOf: UnsafeProjection,
    columns: Int) {

  /** All rows of all keys; the rows are one reused row. */
  def of(keys: java.util.Iterator[InternalRow]): java.util.Iterator[InternalRow] =
    new java.util.Iterator[InternalRow] {
      private[this] val row = new UnsafeRow(columns)
      private[this] var key: UnsafeRow = _
      private[this] var bucket = 0 // the next bucket to search
      private[this] var end = 0 // and the one before which to stop
      private[this] var index: BucketIndex = _
      private[this] var address = Record.none
      private[this] var atRow = false // whether the row at `address` has not been returned yet

      override def hasNext: Boolean = {
        if (!atRow) advance()
        atRow
      }

      override def next(): InternalRow = {
        if (!hasNext) throw new NoSuchElementException
        atRow = false
        index.point(address, row)
        row
      }

      private def advance(): Unit = {
        if (address != Record.none) address = index.next(address, key)
        while (address == Record.none && (bucket < end || keys.hasNext)) {
          if (bucket == end) takeKey()
          index = buckets(bucket)
          bucket += 1
          address = index.first(key)
        }
        atRow = address != Record.none
      }

      private def takeKey(): Unit = {
        val asked = keys.next()
        key = keyOf(asked)
        bucket = bucketOf.fold(0)(_(asked))
        end = bucketOf.fold(count)(_ => bucket + 1)
      }
    }
}
