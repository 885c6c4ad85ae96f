package io.firesteel.sinks.postgres

import io.firesteel.sinks.apply.{NetChanges, Verdict}
import scala.util.Try

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow

/**
 * The result of a task that wrote to the staging table.
 *
 * @param attempt the id of its rows; rows of an abandoned attempt are not read
 */
final private[postgres] case class Staged(attempt: Long, verdict: Verdict)

/**
 * Writes the net changes of a partition into the staging table, in one transaction, with the id of
 * this attempt.
 *
 * @param copy the COPY statement; its columns are the attempt, whether the row is deleted, whether
 *   its key must be new, and the target's columns
 * @param zone sets the time zone of times without one; none if no column needs it
 */
final private[postgres] class StageRows(
    postgres: Postgres,
    copy: String,
    width: Int,
    zone: Option[String])
  extends Serializable {
  import StageRows._

  def apply(rows: Iterator[InternalRow]): Staged = {
    val attempt = TaskContext.get().taskAttemptId()
    // Most tasks of a small micro-batch have no rows, and need no connection.
    val verdict =
      if (rows.isEmpty) Verdict.empty
      else postgres.inTask { connection =>
        zone.foreach(set => Postgres.run(connection, set))
        val lines = new CopyLines(connection, copy)
        try {
          val seen = rows.foldLeft(Verdict.empty) { (verdict, row) =>
            val change = verdictOn(row)
            if (change.staged > 0) write(lines, attempt.toString, row)
            verdict.and(change)
          }
          lines.finish()
          seen
        } catch {
          case failed: Throwable =>
            Try(lines.cancel()) // the original error says more
            throw failed
        }
      }
    Staged(attempt, verdict)
  }

  private def write(lines: CopyLines, attempt: String, row: InternalRow): Unit = {
    lines.field(attempt)
    lines.field(if (row.getInt(action) == NetChanges.remove) "t" else "f")
    lines.field(if (row.getInt(action) == NetChanges.add) "t" else "f")
    (0 until width).foreach { i =>
      lines.field(if (row.isNullAt(values + i)) null else row.getUTF8String(values + i))
    }
    lines.endRow()
  }

  private def verdictOn(row: InternalRow): Verdict = Verdict(
    if (row.getInt(action) == NetChanges.nothing) 0 else 1,
    if (row.getInt(action) == NetChanges.remove) 1 else 0,
    if (row.getInt(action) == NetChanges.add) 1 else 0,
    row.getInt(problem),
    if (row.isNullAt(detail)) "" else row.getUTF8String(detail).toString,
    row.getLong(updates),
    row.getLong(befores)
  )
}

private[postgres] object StageRows {

  /** The input columns of tasks, in this order; the target's columns follow. */
  val columns: Seq[String] = Seq(
    NetChanges.action,
    NetChanges.problem,
    NetChanges.detail,
    NetChanges.updates,
    NetChanges.befores)

  private val action = columns.indexOf(NetChanges.action)
  private val problem = columns.indexOf(NetChanges.problem)
  private val detail = columns.indexOf(NetChanges.detail)
  private val updates = columns.indexOf(NetChanges.updates)
  private val befores = columns.indexOf(NetChanges.befores)
  private val values = columns.size
}
