package io.firesteel.lookup

import java.util.concurrent.{CompletableFuture, ExecutionException}

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BasePredicate, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.StructType

/**
 * The store from a task's view: its cache, and the connector behind it.
 *
 * @param name name of the connector, for errors
 * @param keyOfRow the key of a row of the store
 * @param wanted conditions on rows of the store; null for all rows
 * @param project the columns kept of a row
 */
private[lookup] final class LookupStore(
    name: String,
    keys: StructType,
    columns: StructType,
    client: StoreClient,
    cache: AnswerCache,
    keyOfRow: UnsafeProjection,
    wanted: BasePredicate,
    project: UnsafeProjection,
    mayAnswerOtherKeys: Boolean,
    val batchKeys: Int,
    val timeoutMillis: Long) {

  /** The rows of a key if they are cached, else null. */
  def cached(key: UnsafeRow): Array[UnsafeRow] = cache.get(key)

  def ask(questions: java.util.ArrayList[InternalRow]): CompletableFuture[StoreAnswer] =
    client.ask(questions)

  /** The rows of each key, which are cached now. */
  def answered(
      questions: java.util.ArrayList[InternalRow],
      future: CompletableFuture[StoreAnswer],
      counts: LookupCounts): Array[Array[UnsafeRow]] = {
    val answer =
      try future.get()
      catch {
        case thrown: ExecutionException =>
          counts.failures += 1
          throw failure(questions, StoreClient.causeOf(thrown))
      }
    counts.nanos += answer.nanos
    val grouped = group(questions, answer.rows)
    var i = 0
    while (i < grouped.length) {
      cache.put(questions.get(i).asInstanceOf[UnsafeRow], grouped(i))
      i += 1
    }
    if (cache ne AnswerCache.None) counts.cached += grouped.length
    grouped
  }

  def timedOut(questions: java.util.ArrayList[InternalRow]): Throwable =
    LookupErrors.timedOut(name, keyText(questions.get(0)), questions.size, timeoutMillis)

  private def group(
      questions: java.util.ArrayList[InternalRow],
      rows: Array[UnsafeRow]): Array[Array[UnsafeRow]] = {
    val places = new java.util.HashMap[InternalRow, Integer](questions.size * 2)
    var i = 0
    while (i < questions.size) {
      places.put(questions.get(i), i)
      i += 1
    }
    val grouped = Array.fill(questions.size)(none)
    rows.foreach { row =>
      val key = keyOfRow(row)
      val place = places.get(key)
      if (place == null) {
        if (!mayAnswerOtherKeys) throw LookupErrors.keyNotAsked(name, keyText(key))
      } else if (wanted == null || wanted.eval(row)) {
        if (grouped(place) eq none) grouped(place) = mutable.ArrayBuilder.make[UnsafeRow]
        grouped(place) += project(row).copy()
      }
    }
    grouped.map(builder => if (builder eq none) noRows else builder.result())
  }

  private def failure(
      questions: java.util.ArrayList[InternalRow],
      cause: Throwable): Throwable = cause match {
    case wrong: WrongColumns =>
      LookupErrors.wrongColumns(name, columns.fieldNames.mkString(", "), wrong.got.toString)
    case other => LookupErrors.failed(name, keyText(questions.get(0)), other)
  }

  private def keyText(key: InternalRow): String = KeyText.of(key, keys)

  private[this] val none = mutable.ArrayBuilder.make[UnsafeRow]
  private[this] val noRows = Array.empty[UnsafeRow]
}
