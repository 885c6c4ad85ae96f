package io.firesteel.bench

import java.nio.file.Path

import org.apache.spark.sql.types.{LongType, StringType}

/**
 * A job of Flink SQL.
 *
 * @param ddl statements that run first, outside the clock
 * @param sql an `INSERT` to time or explain, or a query whose last row counts
 */
final case class FlinkJob(settings: Map[String, String], ddl: Seq[String], sql: String)

/** Writes cases as jobs: the same files, the same cores, tuned as Flink's pages advise. */
final class FlinkJobs(question: StreamingCase, files: StreamedFiles, scratch: Path) {

  private val query = question.flink.sql.getOrElse(question.sql)

  val timed: FlinkJob =
    job(question.answer.map(_ -> "BIGINT"), s"INSERT INTO answers $query")

  /** State is written about as often as firesteel commits: once in a micro-batch. */
  val withCheckpoints: FlinkJob = timed.copy(settings =
    timed.settings ++ Map(
      "execution.checkpointing.interval" -> "1 s",
      "execution.checkpointing.storage" -> "filesystem",
      "execution.checkpointing.dir" -> scratch.resolve("flink").toUri.toString
    ))

  val scan: FlinkJob = {
    val read = question.reads.map(column => column -> typeOf(column))
    job(
      read,
      s"INSERT INTO answers SELECT ${question.reads.mkString(", ")} FROM ${question.table.name}")
  }

  /** The final answer. Flink sums its own changelog. */
  val answer: FlinkJob =
    job(Nil, Checksum.of(question.answer, s"($query) AS answers"))

  private def job(sink: Seq[(String, String)], sql: String): FlinkJob = FlinkJob(
    FlinkJobs.settings ++ question.flink.settings,
    source +: (if (sink.isEmpty) Nil else Seq(blackhole(sink))),
    sql)

  private def source: String = {
    val columns = files.schema.map(field => s"`${field.name}` ${typeOf(field.name)}")
    s"""CREATE TEMPORARY TABLE ${question.table.name} (
       |  ${(columns ++ question.flink.columns).mkString(",\n  ")}
       |) WITH ('connector' = 'filesystem', 'path' = '${files.folder.toUri}', 'format' = '${files.format}')""".stripMargin
  }

  private def blackhole(columns: Seq[(String, String)]): String =
    s"CREATE TEMPORARY TABLE answers (${columns.map { case (n, t) => s"`$n` $t" }.mkString(", ")}) " +
      "WITH ('connector' = 'blackhole')"

  private def typeOf(column: String): String = files.schema(column).dataType match {
    case LongType => "BIGINT"
    case StringType => "STRING"
    case other => sys.error(s"no name of Flink's for the type $other of column $column")
  }
}

object FlinkJobs {

  /**
   * From Flink's page "Performance Tuning" (streaming aggregation): mini-batch, local and global
   * aggregation. State on the heap, objects reused, no checkpoints.
   */
  val settings: Map[String, String] = Map(
    "parallelism.default" -> "2",
    "pipeline.object-reuse" -> "true",
    "state.backend.type" -> "hashmap",
    "table.exec.mini-batch.enabled" -> "true",
    "table.exec.mini-batch.allow-latency" -> "5 s",
    "table.exec.mini-batch.size" -> "5000",
    "table.optimizer.agg-phase-strategy" -> "TWO_PHASE"
  )

  /** A table of the Parquet files in a folder. */
  def parquet(table: String, columns: String, folder: Path): String =
    s"CREATE TEMPORARY TABLE $table ($columns) WITH ('connector' = 'filesystem', " +
      s"'path' = '${folder.toUri}', 'format' = 'parquet')"

  /** The changes of the result go to a sink that drops them. */
  def dropped(query: String): String =
    s"CREATE TABLE answers WITH ('connector' = 'blackhole') AS $query"
}
