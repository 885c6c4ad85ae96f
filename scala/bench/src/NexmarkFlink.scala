package io.firesteel.bench

/** The queries of Nexmark with Flink's jobs over the same files. */
final class NexmarkFlink(files: NexmarkFiles) {

  import NexmarkFlink._

  def query(its: NexmarkQuery): SuiteQuery = {
    val theirs = sql(its)
    SuiteQuery(
      its.name,
      its.sql,
      if (its.name == clock) Seq("bidder", "bids") else its.answer,
      its.mode,
      compared = if (its.name == clock) ofAllWindows(its.sql) else its.sql,
      tables = () => files.registerTables(),
      streams = () => files.registerStreams(NexmarkMain.filesPerBatch, its.closes),
      timed = job(FlinkJobs.dropped(theirs)),
      sum = Option.when(its.name != clock)(
        job(Checksum.of(its.answer, s"($theirs) AS answers")))
    )
  }

  private def job(sql: String): FlinkJob =
    FlinkJob(FlinkJobs.settings, ddl, sql)

  private val ddl: Seq[String] =
    NexmarkFlink.columns.toSeq.map { case (table, columns) =>
      FlinkJobs.parquet(table, columns, files.folder(table))
    } :+ "CREATE TEMPORARY VIEW arriving AS SELECT bidder, PROCTIME() AS arrival FROM bid"
}

object NexmarkFlink {

  /** The query of windows of the clock, which no two runs cut in the same way. */
  private val clock = "q12"

  private def ofAllWindows(sql: String): String =
    s"SELECT bidder, sum(bid_count) AS bids FROM ($sql) GROUP BY bidder"

  /** Waits for all rows: Flink reads files in the order of the folder, which is none of time. */
  private val watermark = "WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '1' DAY"

  /** Event times have milliseconds, so that they can be Flink's event time. */
  private val columns: Map[String, String] = NexmarkEvents.schemas.map { case (table, schema) =>
    val names = schema.map(field => s"`${field.name}` ${field.dataType.sql}")
    table -> (names.map(_.replace("TIMESTAMP", "TIMESTAMP(3)")) :+ watermark).mkString(", ")
  } + ("side_input" -> "key BIGINT, `value` STRING")

  /** Texts that differ by more than a word, because Flink's functions or tables do. */
  private val own: Map[String, String] = Map(
    "q12" -> """SELECT bidder, COUNT(*) AS bid_count, window_start AS starttime, window_end AS endtime
      |FROM TUMBLE(TABLE arriving, DESCRIPTOR(arrival), INTERVAL '10' SECOND)
      |GROUP BY bidder, window_start, window_end""".stripMargin,
    "q22" -> """SELECT auction, bidder, price, channel, SPLIT_INDEX(url, '/', 3) AS dir1,
      |  SPLIT_INDEX(url, '/', 4) AS dir2, SPLIT_INDEX(url, '/', 5) AS dir3
      |FROM bid""".stripMargin
  )

  /** Flink's text: firesteel's with Flink's names of functions, and words of its grammar quoted. */
  private def sql(its: NexmarkQuery): String = own.getOrElse(
    its.name,
    its.sql
      .replaceAll("\\b(dateTime|day|minute|value)\\b", "`$1`")
      .replace("replace(extra, 'c')", "replace(extra, 'c', '')")
      .replaceAll("\\blength\\(", "char_length(")
  )
}
