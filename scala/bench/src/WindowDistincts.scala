package io.firesteel.bench

import java.nio.file.Path
import java.time.Instant

import scala.util.Using

import org.apache.spark.sql.SparkSession

/** Distinct values of long windows, which stock Spark refuses, beside Flink's own `HOP`. */
final class WindowDistincts(
    spark: SparkSession,
    scratch: Path,
    progress: Progress,
    arguments: Arguments) {
  import WindowDistincts._

  private val files = new OverFiles(spark, arguments.data, progress)
  private val streams = new ReadingStreams(spark, scratch)

  def run(): Seq[Figure] = {
    val python = arguments.flink.getOrElse(sys.error("--flink names no Python that has Flink"))
    val heap = s"${Runtime.getRuntime.maxMemory >> 20}m"
    Using.resource(new FlinkProcess(python, heap, scratch.resolveSibling("flink.log"))) { flink =>
      progress.line(s"Flink ${flink.facts.flink}")
      cases.map { case (window, share, times) =>
        one(flink, window, arguments.rows / share, times)
      }
    }
  }

  private def one(flink: FlinkProcess, window: LongWindow, rows: Long, times: Double): Figure = {
    val table = window.table(rows)
    val read = files.inOrder(table)
    val sql = query(more => s"HOP(TABLE(readings), $more)", "at", window)
    // Flink closes all windows at the end; a stream of Spark only those that its watermark has.
    val until = 1700000000000L + ((rows - 1) * (window.days * 86400000.0 / rows)).toLong - 60000L
    val question = StreamingCase(
      window.title,
      window.title,
      "",
      table,
      sql,
      reads = Seq("ts", "k", "v"),
      answer = Seq("k", "d"),
      target = None,
      mode = "append",
      flink = FlinkDialect(
        columns = Seq(
          "event_time AS TO_TIMESTAMP_LTZ(ts, 3)",
          "WATERMARK FOR event_time AS event_time - INTERVAL '1' MINUTE"),
        sql = Some(query(
          more => s"TABLE(HOP(TABLE ${table.name}, $more))",
          "event_time",
          window) +
          s" HAVING window_end <= TO_TIMESTAMP_LTZ($until, 3)")
      )
    )
    val jobs = new FlinkJobs(question, files.forTasks(table, by = "v"), scratch)
    streams.register(read)
    val answers = Seq(
      progress.step(s"${window.title}: answer, firesteel")(streams.answer(sql, Seq("k", "d"))),
      progress.step(s"${window.title}: answer, Flink")(flink.checksum(jobs.answer))
    )
    if (answers.distinct.size != 1) {
      throw new WrongAnswer(
        s"${window.title} to ${Instant.ofEpochMilli(until)}: ${answers.mkString(", ")}")
    }
    val rounds = Rounds.inTurn(progress, window.title, arguments.pairs)(
      Contestant.firesteel -> (() => streams.time(sql)),
      StreamingContestant.flink -> (() => flink.time(jobs.timed)))
    Figure(
      name,
      f"${window.title}, $rows%,d rows",
      "in memory",
      StreamingContestant.flink,
      Contestant.firesteel,
      rounds,
      Bound.AtLeast(times)
    )
  }
}

object WindowDistincts {

  val name: String = "distinct"

  val note: String =
    s"""`count(DISTINCT v)` of 100,000 values by `HOP` and a key of ${LongWindow.keys}. Flink keeps its state
       |on the heap, with mini-batches and two phases. Both give the same rows.""".stripMargin

  /** A window, the part of the rows that both read, and the target. */
  private val cases: Seq[(LongWindow, Int, Double)] =
    Seq((LongWindow.day, 5, 2.0), (LongWindow.week, 25, 5.0), (LongWindow.month, 500, 10.0))

  /** @param call the call of `HOP`, with a place for what follows the table */
  private def query(call: String => String, time: String, window: LongWindow): String =
    s"""SELECT k, COUNT(DISTINCT v) AS d
       |FROM ${call(s"DESCRIPTOR($time), ${interval(window.slide)}, ${interval(window.size)}")}
       |GROUP BY k, window_start, window_end""".stripMargin

  private def interval(text: String): String = {
    val words = text.stripSuffix("s").split(' ')
    s"INTERVAL '${words.head}' ${words.last}"
  }
}
