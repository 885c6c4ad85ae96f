package io.firesteel.lookup.jdbc

import java.sql.{Connection, PreparedStatement, ResultSet, SQLException, Statement}
import java.util.{ArrayList, Iterator => JavaIterator, List => JavaList}
import java.util.concurrent.{CancellationException, CompletableFuture, ConcurrentHashMap}

import scala.jdk.CollectionConverters._

import io.firesteel.lookup.{AnswersSome, AsyncLookupFunction, SyncLookupFunction, TaskInfo}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.firesteel.{beforeFetch, fetchSize, JdbcInternals}
import org.apache.spark.sql.jdbc.JdbcDialect
import org.apache.spark.sql.types.StructType

/**
 * Reads rows by key over the connection pool of the executor.
 *
 * It reads an answer to its end before it returns a row. So it holds a connection only while the
 * statement runs, and a failure in the middle can be retried without duplicate rows.
 *
 * Memory: the rows of one batch of keys.
 */
private[jdbc] final class JdbcLookupFunction(
    settings: JdbcSettings,
    dialect: JdbcDialect,
    statement: LookupStatement,
    columns: StructType)
  extends SyncLookupFunction
  with AsyncLookupFunction
  with AnswersSome {
  import JdbcLookupFunction.Key

  @transient private[this] var pool: ConnectionPool = _
  @transient private[this] var running: java.util.Set[Statement] = _
  @transient @volatile private[this] var closed: Boolean = false

  /** As many as the database takes; the join asks for no more than `lookup.batch-size`. */
  override def maxBatchKeys: Int = statement.maxKeys

  /** Tasks share a pool: more questions would wait for its threads, and their time would run. */
  override def mostQuestions: Int = ConnectionPools.share(settings)

  /**
   * A database may ignore case or trailing blanks of text, and local times may occur twice in a
   * year: it then answers rows of more keys than were asked.
   */
  override def mayAnswerOtherKeys: Boolean = true

  override def open(task: TaskInfo): Unit = {
    running = ConcurrentHashMap.newKeySet[Statement]()
    pool = retry("")(ConnectionPools.acquire(settings))
  }

  /** Cancels running statements of a task that was killed or whose lookup timed out. */
  override def close(): Unit = {
    closed = true
    if (running != null) running.forEach(cancel(_))
    if (pool != null) ConnectionPools.release(settings)
    pool = null
  }

  private def cancel(statement: Statement): Unit =
    try statement.cancel()
    catch { case _: SQLException => () } // it has ended by itself

  override def lookup(keys: JavaList[InternalRow]): JavaIterator[InternalRow] =
    answer(read(keys), pool).iterator()

  /** As many at a time as the pool has connections, because JDBC waits for its answers. */
  override def lookupAsync(keys: JavaList[InternalRow])
      : CompletableFuture[JavaList[InternalRow]] = {
    val values = read(keys) // in the caller's thread, which may reuse its rows
    val connections = pool
    CompletableFuture.supplyAsync(() => answer(values, connections), connections.threads)
  }

  /** The keys that the database can store, as JDBC takes them. */
  private def read(rows: JavaList[InternalRow]): Seq[Key] = {
    val parameters = statement.keys.map(_.parameter)
    rows.asScala.iterator.flatMap { row =>
      val values = parameters.zipWithIndex.map { case (p, i) => p.of(row, i) }
      if (values.forall(_.isDefined)) Some(values.flatten.toArray) else None
    }.toSeq
  }

  private def answer(keys: Seq[Key], connections: ConnectionPool): JavaList[InternalRow] = {
    val rows = new ArrayList[InternalRow]
    keys.grouped(maxBatchKeys).foreach { batch =>
      // Questions of a task that has ended may still wait for a thread.
      if (closed) throw new CancellationException("the task has ended")
      val size = LookupStatement.paddedSize(batch.size, maxBatchKeys)
      val sql = statement.text(size)
      val padded = batch.padTo(size, batch.last)
      val _ = rows.addAll(retry(sql)(connections.use(ask(_, sql, padded))))
    }
    rows
  }

  private def ask(
      connection: Connection,
      sql: String,
      keys: Seq[Key]): JavaList[InternalRow] = {
    val options = settings.options
    beforeFetch(dialect, connection, options)
    val prepared = connection.prepareStatement(
      sql,
      ResultSet.TYPE_FORWARD_ONLY,
      ResultSet.CONCUR_READ_ONLY)
    try {
      prepared.setFetchSize(fetchSize(dialect, options))
      prepared.setQueryTimeout(options.queryTimeout)
      bind(prepared, keys)
      running.add(prepared)
      if (closed) prepared.cancel()
      copied(JdbcInternals.rowsOf(prepared.executeQuery(), dialect, columns))
    } finally {
      running.remove(prepared)
      prepared.close()
    }
  }

  private def bind(prepared: PreparedStatement, keys: Seq[Key]): Unit = {
    val parameters = statement.keys.map(_.parameter)
    var at = 0
    for (key <- keys; (parameter, value) <- parameters.iterator.zip(key)) {
      at += 1
      parameter.set(prepared, at, value)
    }
  }

  private def copied(answer: Iterator[InternalRow]): JavaList[InternalRow] = {
    val toUnsafe = UnsafeProjection.create(columns)
    val rows = new ArrayList[InternalRow]
    answer.foreach(row => rows.add(toUnsafe(row).copy()))
    rows
  }

  private def database: Database = Database.of(settings.options.url)

  private def retry[T](sql: String)(attempt: => T): T =
    Retry(settings.maxRetries, database, () => !closed)(attempt) {
      (failure, attempts) =>
        // A task that has ended has cancelled the statement, and waits for nothing.
        val isOther = closed || sql.isEmpty || Retry.isTransient(failure, database) ||
          Retry.isRefusedLogin(failure)
        val missing =
          if (isOther) None
          else DatabaseSchema.missing(settings, columns.fieldNames.toSeq)
        missing.fold(JdbcErrors.ofFailure(settings, sql, failure, attempts)) {
          case (column, all) => JdbcErrors.unknownColumn(settings, column, all, failure)
        }
    }

  override def toString: String = s"${JdbcProvider.name}: $statement"
}

private object JdbcLookupFunction {
  type Key = Array[AnyRef]
}
