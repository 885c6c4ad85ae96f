package io.firesteel.lookup

import java.util.concurrent.{CompletableFuture, CompletionException, Executor, Executors, ExecutorService, ForkJoinPool, TimeUnit}
import java.util.function.{Function => JavaFunction}

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.StructType

/** Copies of the store's rows, in the order of the answer. */
private[lookup] final class StoreAnswer(val rows: Array[UnsafeRow], val nanos: Long)

/**
 * Asks a lookup function: in a thread of its own, so that a question can time out, or through the
 * function's futures. Asks again for keys without rows if the query wants retries.
 *
 * @param keyOf makes the function that reads the key of a row of the store; for one thread
 */
private[lookup] final class StoreClient(
    function: LookupFunction,
    preferAsync: Boolean,
    columns: StructType,
    retry: Option[RetryOnMiss],
    keyOf: () => UnsafeProjection,
    threadName: String) {

  private type Keys = java.util.ArrayList[InternalRow]

  private[this] var worker: ExecutorService = _
  private[this] val loader = Thread.currentThread.getContextClassLoader

  /** Threads of the pool that all share have the system's class loader, which lacks users' jars. */
  private[this] val asTask: Executor = task =>
    ForkJoinPool.commonPool.execute { () =>
      val thread = Thread.currentThread
      val before = thread.getContextClassLoader
      thread.setContextClassLoader(loader)
      try task.run()
      finally thread.setContextClassLoader(before)
    }

  @volatile private[this] var closed = false

  /** Whether several questions may be under way. */
  val isAsync: Boolean = function match {
    case _: AsyncLookupFunction with SyncLookupFunction => preferAsync
    case _: AsyncLookupFunction => true
    case _ => false
  }

  /** Asks. The future fails with the function's exception. */
  def ask(keys: Keys): CompletableFuture[StoreAnswer] =
    retry.fold(askOnce(keys))(again(keys, _, 1))

  /**
   * Ends questions under way as far as possible, and starts no more. A connector is not closed while
   * its thread is in it, unless that takes too long; `close` of an [[AnswersSome]] ends its questions.
   */
  def close(): Unit = {
    closed = true
    if (worker != null) {
      val _ = worker.shutdownNow()
      if (!function.isInstanceOf[AnswersSome])
        try { val _ = worker.awaitTermination(StoreClient.closeSeconds, TimeUnit.SECONDS) }
        catch { case _: InterruptedException => Thread.currentThread.interrupt() }
    }
  }

  private def askOnce(keys: Keys): CompletableFuture[StoreAnswer] = {
    val start = System.nanoTime()
    val asked = java.util.Collections.unmodifiableList[InternalRow](keys)
    def answer(rows: Array[UnsafeRow]) = new StoreAnswer(rows, System.nanoTime() - start)
    function match {
      case async: AsyncLookupFunction if isAsync =>
        try async.lookupAsync(asked).thenApply[StoreAnswer](rows => answer(copied(rows.iterator)))
        catch { case NonFatal(thrown) => CompletableFuture.failedFuture(thrown) }
      case sync: SyncLookupFunction =>
        CompletableFuture.supplyAsync(() => answer(copied(sync.lookup(asked))), thread())
      case other => throw new IllegalStateException(s"$other is neither kind of function")
    }
  }

  /** As Flink's hint: waits, and asks again for the keys without rows. */
  private def again(
      keys: Keys,
      policy: RetryOnMiss,
      attempt: Int): CompletableFuture[StoreAnswer] =
    askOnce(keys).thenCompose { answer =>
      val isLast = closed || attempt >= policy.maxAttempts
      val found = new java.util.HashSet[InternalRow]
      if (!isLast) { val read = keyOf(); answer.rows.foreach(row => found.add(read(row).copy())) }
      val missing = new Keys
      if (!isLast) keys.forEach(key => if (!found.contains(key)) { val _ = missing.add(key) })
      if (missing.isEmpty) CompletableFuture.completedFuture(answer)
      else {
        val later = CompletableFuture.delayedExecutor(
          policy.delayMillis,
          TimeUnit.MILLISECONDS,
          asTask)
        val next: JavaFunction[Void, CompletableFuture[StoreAnswer]] =
          _ =>
            if (closed) CompletableFuture.completedFuture(new StoreAnswer(Array.empty, 0L))
            else again(missing, policy, attempt + 1)
        CompletableFuture
          .runAsync(() => (), later)
          .thenCompose(next)
          .thenApply[StoreAnswer] { more =>
            // A store may answer a missing key by rows of another one, which are here already.
            val read = keyOf()
            val rows = answer.rows ++ more.rows.filterNot(row => found.contains(read(row)))
            new StoreAnswer(rows, answer.nanos + more.nanos)
          }
      }
    }

  /** Copies, because a connector may return one reused row. */
  private def copied(rows: java.util.Iterator[InternalRow]): Array[UnsafeRow] = {
    val copy = UnsafeProjection.create(columns)
    val all = Array.newBuilder[UnsafeRow]
    while (rows.hasNext) {
      val row = rows.next()
      if (row.numFields != columns.length) throw new WrongColumns(row.numFields)
      all += copy(row).copy()
    }
    all.result()
  }

  private def thread(): ExecutorService = {
    if (worker == null) {
      worker = Executors.newSingleThreadExecutor { task =>
        val thread = new Thread(task, threadName)
        thread.setDaemon(true)
        thread
      }
    }
    worker
  }
}

/** A row of the store had a wrong number of columns. */
private[lookup] final class WrongColumns(val got: Int) extends RuntimeException

private[lookup] object StoreClient {

  /** How long a question that ignores its interrupt is waited for, as by the workers of Python. */
  private val closeSeconds = 10L

  /** The connector's exception, without the wrappers of futures. */
  def causeOf(thrown: Throwable): Throwable = thrown match {
    case wrapped: CompletionException if wrapped.getCause != null => causeOf(wrapped.getCause)
    case wrapped: java.util.concurrent.ExecutionException if wrapped.getCause != null =>
      causeOf(wrapped.getCause)
    case other => other
  }
}
