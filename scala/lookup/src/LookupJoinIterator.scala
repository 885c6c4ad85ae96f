package io.firesteel.lookup

import java.util.concurrent.{CompletableFuture, TimeoutException, TimeUnit}

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Counts of a task, added to the operator's metrics when the task ends. */
private[lookup] final class LookupCounts {
  var hits, misses, requests, nanos, failures, cached, rowsOut: Long = 0L
}

/**
 * Joins rows with the store's rows for their keys.
 *
 * A row whose key is cached is emitted at once. Other rows wait in a batch until enough distinct
 * keys are collected. An asynchronous store has several such questions under way. A key that is
 * already being asked for is not asked again.
 *
 * Memory: at most `maxRows` waiting rows, or [[LookupJoinIterator.maxBytes]] of them.
 *
 * @param keyOf the key of a row, valid until the next call; null if a part of it is null
 * @param ordered whether rows are emitted in the order of the input
 * @param capacity most questions under way; asked again for each question
 */
private[lookup] final class LookupJoinIterator(
    left: Iterator[InternalRow],
    keyOf: InternalRow => UnsafeRow,
    store: LookupStore,
    joiner: RowJoiner,
    counts: LookupCounts,
    ordered: Boolean,
    capacity: () => Int,
    maxRows: Int)
  extends Iterator[InternalRow] {
  import LookupJoinIterator._

  private[this] val waiting = new java.util.ArrayDeque[Batch] // asked, oldest first
  private[this] var open = new Batch // not asked yet
  private[this] var most = capacity()
  private[this] val asked = new java.util.HashMap[UnsafeRow, Answer]
  private[this] var bufferedRows = 0L
  private[this] var bufferedBytes = 0L

  private[this] var leaving: Batch = _ // answered, its rows are being emitted
  private[this] var leavingAt = 0
  private[this] var joining = false // whether the joiner has more matches of the current row
  private[this] var ready: InternalRow = _

  override def hasNext: Boolean = {
    if (ready == null) ready = advance()
    ready != null
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    val row = ready
    ready = null
    counts.rowsOut += 1
    row
  }

  private def advance(): InternalRow = {
    var row: InternalRow = null
    var done = false
    while (row == null && !done) {
      if (joining) {
        row = joiner.next()
        joining = row != null
      } else if (leaving != null) nextOfBatch()
      else if (hasAnswered) takeBatch()
      else if (left.hasNext && hasRoom) offer(left.next())
      else if (!open.isEmpty && waiting.size < most) send()
      else if (!waiting.isEmpty) await()
      else done = true
    }
    row
  }

  private def hasRoom: Boolean =
    bufferedRows < maxRows && bufferedBytes < maxBytes && waiting.size < most

  private def offer(row: InternalRow): Unit = {
    val key = keyOf(row)
    if (key == null) pass(row, nothing)
    else {
      val cached = store.cached(key)
      if (cached != null) {
        counts.hits += 1
        pass(row, cached)
      } else miss(row, key)
    }
  }

  /** Joins a row whose answer is known. If ordered, it waits behind the rows before it. */
  private def pass(row: InternalRow, rows: Array[UnsafeRow]): Unit =
    if (ordered && !(waiting.isEmpty && open.isEmpty)) {
      val answer = new Answer(open)
      answer.rows = rows
      hold(row, answer, open)
    } else {
      joiner.start(row, rows)
      joining = true
    }

  private def miss(row: InternalRow, key: UnsafeRow): Unit = {
    var answer = asked.get(key)
    if (answer == null) {
      counts.misses += 1
      answer = new Answer(open)
      val kept = key.copy()
      asked.put(kept, answer)
      open.keys.add(kept)
      open.answers += answer
    } else counts.hits += 1
    // If ordered, it follows the rows before it; that key has an answer by then.
    hold(row, answer, if (ordered) open else answer.batch)
    if (open.keys.size >= store.batchKeys) send()
  }

  private def hold(row: InternalRow, answer: Answer, batch: Batch): Unit = {
    val copy = row.copy()
    batch.rows += copy
    batch.rowAnswers += answer
    bufferedRows += 1
    copy match {
      case unsafe: UnsafeRow => bufferedBytes += unsafe.getSizeInBytes
      case _ => ()
    }
  }

  private def send(): Unit = {
    if (!open.keys.isEmpty) {
      counts.requests += 1
      open.ask(store)
    }
    waiting.addLast(open)
    open = new Batch
    most = capacity()
  }

  /** If ordered, only the oldest batch is emitted, otherwise any answered one. */
  private def hasAnswered: Boolean =
    if (waiting.isEmpty) false
    else if (ordered) waiting.peekFirst().isAnswered
    else {
      val each = waiting.iterator
      var found: Batch = null
      while (found == null && each.hasNext) {
        val batch = each.next()
        if (batch.isAnswered) {
          found = batch
          each.remove()
        }
      }
      if (found != null) waiting.addFirst(found)
      found != null
    }

  private def takeBatch(): Unit = {
    leaving = waiting.pollFirst()
    leavingAt = 0
    leaving.accept(store, asked, counts)
  }

  private def nextOfBatch(): Unit =
    if (leavingAt == leaving.rows.length) leaving = null
    else {
      val row = leaving.rows(leavingAt)
      joiner.start(row, leaving.rowAnswers(leavingAt).rows)
      joining = true
      leavingAt += 1
      bufferedRows -= 1
      row match {
        case unsafe: UnsafeRow => bufferedBytes -= unsafe.getSizeInBytes
        case _ => ()
      }
    }

  /** Waits for the oldest batch if ordered, otherwise for any. */
  private def await(): Unit =
    if (ordered) waiting.peekFirst().await(store, Seq(waiting.peekFirst()))
    else {
      val all = mutable.ArrayBuffer.empty[Batch]
      waiting.forEach(batch => { val _ = all += batch })
      waiting.peekFirst().await(store, all.toSeq)
    }
}

private[lookup] object LookupJoinIterator {

  /** Bytes of waiting rows in one task. */
  private val maxBytes: Long = 64L << 20

  private val nothing = Array.empty[UnsafeRow]

  /** The rows of one key, null until the store has answered, and the batch that asks for it. */
  private final class Answer(val batch: Batch) { var rows: Array[UnsafeRow] = _ }

  /** Rows that wait together, and the keys asked for them. */
  private final class Batch {
    val keys = new java.util.ArrayList[InternalRow]
    val answers = mutable.ArrayBuffer.empty[Answer]
    val rows = mutable.ArrayBuffer.empty[InternalRow]
    val rowAnswers = mutable.ArrayBuffer.empty[Answer]
    private var future: CompletableFuture[StoreAnswer] = _
    private var deadline = 0L

    def isEmpty: Boolean = rows.isEmpty

    def ask(store: LookupStore): Unit = {
      deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(store.timeoutMillis)
      future = store.ask(keys)
    }

    def isAnswered: Boolean = future == null || future.isDone

    def await(store: LookupStore, any: Seq[Batch]): Unit = {
      val futures = any.map(_.future).filter(_ != null)
      if (futures.nonEmpty) {
        val left = deadline - System.nanoTime()
        val first = CompletableFuture.anyOf(futures: _*)
        try {
          val _ = first.get(math.max(left, 0L), TimeUnit.NANOSECONDS)
        } catch {
          case _: TimeoutException => throw store.timedOut(keys)
          // `accept` of the failed batch raises it, with the key.
          case _: java.util.concurrent.ExecutionException => ()
        }
      }
    }

    def accept(
        store: LookupStore,
        asked: java.util.HashMap[UnsafeRow, Answer],
        counts: LookupCounts): Unit =
      if (future != null) {
        val found = store.answered(keys, future, counts)
        var i = 0
        while (i < keys.size) {
          val _ = asked.remove(keys.get(i))
          answers(i).rows = found(i)
          i += 1
        }
      }
  }
}
