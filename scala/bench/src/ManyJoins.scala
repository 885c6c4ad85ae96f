package io.firesteel.bench

import java.lang.management.ManagementFactory
import java.nio.file.Path
import java.util.concurrent.atomic.AtomicReference

import com.sun.management.OperatingSystemMXBean
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

/** Joins two streams one to one, beside Spark's own join of streams. */
final class ManyJoins(
    spark: SparkSession,
    scratch: Path,
    progress: Progress,
    arguments: Arguments) {
  import ManyJoins._

  private val tasks = new TaskLog(spark.sparkContext)
  private val rows = arguments.rows
  private val data = new DataFolder(arguments.data, progress)

  def run(): Seq[Figure] = {
    tables(rows).foreach { table =>
      StreamedFiles
        .make(spark, data, table, "parquet")
        .stream(spark, perBatch = 1)
        .createOrReplaceTempView(table.name)
    }
    FigureResults.providers.map { case (provider, settings) =>
      // It is as long as ten micro-batches, so a run of each compiles what it runs.
      both(settings).foreach { case (name, contestant) => check(s"$name, $provider", contestant) }
      val runs = (0 until arguments.pairs).flatMap { i =>
        progress.stepWithOutcome(s"$name, $provider: round ${i + 1}") {
          Rounds.order(both(settings), i).map { case (name, contestant) =>
            name -> contestant.within(spark)(timed(contestant.sql))
          }
        }(_.map { case (name, run) => f"$name ${run.seconds}%.2f" }.mkString("(", ", ", ")"))
      }
      Figure(
        name,
        f"$rows%,d rows of each side",
        provider,
        Contestant.firesteel,
        Contestant.stock,
        Rounds(runs.groupMap(_._1)(_._2)),
        Bound.AtMost(1.5))
    }
  }

  private def both(settings: Map[String, String]): Seq[(String, Contestant)] = Seq(
    Contestant.firesteel -> Contestant(
      "",
      s"SELECT k, v, w, row_kind() AS op FROM $join",
      settings),
    Contestant.stock -> Contestant(
      "",
      s"SELECT k, v, w FROM $join",
      settings + ("spark.firesteel.enabled" -> "false"))
  )

  private def timed(sql: String): Run = ScratchCheckpoint.in(scratch) { checkpoint =>
    System.gc()
    val before = processor
    var query: StreamingQuery = null
    val run = tasks.time {
      query = spark.sql(sql).writeStream.format("noop").outputMode("append")
        .option("checkpointLocation", checkpoint.toString)
        .trigger(Trigger.AvailableNow).start()
      query.awaitTermination()
    }
    progress.line(f"${times(query)}, processor ${(processor - before) / 1e9}%.2f s")
    run
  }

  /** Nanoseconds of all threads: on a shared machine a better guide than the clock. */
  private def processor: Long = ManagementFactory.getOperatingSystemMXBean match {
    case system: OperatingSystemMXBean => system.getProcessCpuTime
    case _ => 0L
  }

  /** Where the time of the stateful operators went, of all tasks. */
  private def times(query: StreamingQuery): String = {
    val operators = query.recentProgress.flatMap(_.stateOperators)
    f"state: updates ${operators.map(_.allUpdatesTimeMs).sum / 1e3}%.2f s, " +
      f"commits ${operators.map(_.commitTimeMs).sum / 1e3}%.2f s, " +
      s"${operators.lastOption.fold(0L)(_.numRowsTotal)} entries"
  }

  /** The answer is every key once, or the run ends. */
  private def check(what: String, contestant: Contestant): Unit =
    ScratchCheckpoint.in(scratch) { checkpoint =>
      val sum = new AtomicReference(Checksum.none)
      progress.step(s"$what: answer") {
        contestant.within(spark) {
          spark.sql(contestant.sql).writeStream.outputMode("append")
            .option("checkpointLocation", checkpoint.toString)
            .trigger(Trigger.AvailableNow)
            .foreachBatch { (batch: DataFrame, _: Long) =>
              batch.createOrReplaceTempView("join_batch")
              val one = batch.sparkSession.sql(Checksum.of(Seq("k", "v", "w"), "join_batch")).head()
              val _ = sum.updateAndGet(_ + Checksum.read(one))
            }.start().awaitTermination()
        }
      }
      if (sum.get != truth) throw new WrongAnswer(s"$what: $truth are right, not ${sum.get}")
    }

  private lazy val truth: Checksum = {
    val made = tables(rows).map { table =>
      s"(SELECT ${table.columns.map { case (c, sql) => s"$sql AS $c" }.mkString(", ")} " +
        s"FROM range($rows))"
    }
    val pairs = s"(SELECT k, v, w FROM ${made.mkString(" JOIN ")} ON k = rk)"
    Checksum.read(spark.sql(Checksum.of(Seq("k", "v", "w"), pairs)).head())
  }
}

object ManyJoins {

  val name: String = "one-to-one"

  val note: String =
    """Every row has one match. In each of ten micro-batches a tenth of both sides arrives; of ten matches
      |nine are in other micro-batches. Spark's own join runs the same query without `row_kind()`, with
      |the same state store.""".stripMargin

  private val join = "join_left JOIN join_right ON k = rk"

  private val batches = 10

  /** The keys of the right side are those of the left one in another order: 7919 is a prime. */
  private def tables(rows: Long): Seq[Table] = Seq(
    Table("join_left", rows, Seq("k" -> "id", "v" -> "xxhash64(id, 4)"), batches),
    Table(
      "join_right",
      rows,
      Seq("rk" -> s"pmod(id * 7919, ${rows}L)", "w" -> "xxhash64(id, 5)"),
      batches)
  )
}
