package io.firesteel.bench

import java.nio.file.Path
import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.streaming.Trigger

/** Operators of one key above one another, with shared stores and with a shuffle between each two. */
final class Neighbours(
    spark: SparkSession,
    scratch: Path,
    progress: Progress,
    arguments: Arguments) {
  import Neighbours._

  private val tasks = new TaskLog(spark.sparkContext)
  private val data = new DataFolder(arguments.data, progress)

  def run(): Seq[Figure] = for {
    query <- queries
    keys <- query.keys
    (provider, settings) <- FigureResults.providers
  } yield {
    val own = table(arguments.rows, keys)
    StreamedFiles.make(spark, data, own, "parquet").stream(spark, perBatch = 1)
      .createOrReplaceTempView("t")
    val title = f"${query.title}, $keys%,d keys, $provider"
    val sides = both(query.sql, settings)
    // As long as all micro-batches, so it compiles what the runs need.
    val answers = sides.map { case (name, contestant) =>
      progress.step(s"$title: answer, $name")(contestant.within(spark)(answer(query)))
    }
    if (answers.distinct.size != 1) throw new WrongAnswer(s"$title: ${answers.mkString(", ")}")
    val runs = (0 until arguments.pairs).flatMap { i =>
      progress.stepWithOutcome(s"$title: round ${i + 1}") {
        Rounds.order(sides, i).map { case (name, contestant) =>
          name -> contestant.within(spark)(timed(query.sql))
        }
      }(_.map { case (name, run) =>
        f"$name ${run.seconds}%.2f s, ${run.shuffledBytes / 1e6}%.0f MB shuffled"
      }.mkString("(", ", ", ")"))
    }
    Figure(
      name,
      f"${query.title}, $keys%,d keys",
      provider,
      apart,
      together,
      Rounds(runs.groupMap(_._1)(_._2)),
      if (keys < 10000) Bound.AtLeast(1.0) else query.bound)
  }

  private def both(sql: String, settings: Map[String, String]): Seq[(String, Contestant)] =
    Seq(together -> "true", apart -> "false").map { case (name, on) =>
      name -> Contestant("", sql, settings ++ switches.map(_ -> on))
    }

  private def timed(sql: String): Run = ScratchCheckpoint.in(scratch) { checkpoint =>
    System.gc()
    tasks.time {
      spark.sql(s"SELECT *, row_kind() AS op FROM ($sql)").writeStream.format("noop")
        .outputMode("append").option("checkpointLocation", checkpoint.toString)
        .trigger(Trigger.AvailableNow).start().awaitTermination()
    }
  }

  private def answer(query: Query): Checksum = ScratchCheckpoint.in(scratch) { checkpoint =>
    val sum = new AtomicReference(Checksum.none)
    spark.sql(s"SELECT *, row_kind() AS op FROM (${query.sql})").writeStream
      .outputMode("append").option("checkpointLocation", checkpoint.toString)
      .trigger(Trigger.AvailableNow)
      .foreachBatch { (batch: DataFrame, _: Long) =>
        val changed = Checksum.read(
          batch.selectExpr(Checksum.ofChanges(query.columns, "op"): _*).head())
        val _ = sum.updateAndGet(_ + changed)
      }.start().awaitTermination()
    sum.get
  }
}

object Neighbours {

  val name: String = "chains"

  val note: String =
    """Rows of Parquet in ten micro-batches. *Together*: without shuffles between operators of one key,
      |which share a store. *Apart*: with both settings off. The sums of both changelogs are
      |equal.""".stripMargin

  val (together, apart) = ("together", "apart")

  val switches: Seq[String] = Seq(
    "spark.firesteel.changelog.removeShuffles",
    "spark.firesteel.changelog.multipleInput.enabled")

  final private case class Query(
      title: String,
      sql: String,
      columns: Seq[String],
      keys: Seq[Long],
      bound: Bound)

  private val top =
    "(SELECT * FROM (SELECT k, v, id, row_number() OVER (PARTITION BY k ORDER BY v " +
      "DESC, id) AS rn FROM t) WHERE rn <= 5)"

  private val queries = Seq(
    Query(
      "Top-5, then an aggregate",
      s"SELECT k, sum(v) AS s, max(id) AS m FROM $top GROUP BY k",
      Seq("k", "s", "m"),
      Seq(1000000L, 1000L),
      Bound.AtLeast(1.3)),
    Query(
      "two aggregates joined, then an aggregate",
      "SELECT a.k, count(*) AS c, max(n) AS n, max(m) AS m FROM (SELECT k, count(*) AS n FROM t " +
        "GROUP BY k) a JOIN (SELECT k, max(v) AS m FROM t GROUP BY k) b ON a.k = b.k GROUP BY a.k",
      Seq("k", "c", "n", "m"),
      Seq(1000000L),
      Bound.AtLeast(1.5)
    )
  )

  private def table(rows: Long, keys: Long): Table = Table(
    s"chains_$keys",
    rows,
    Seq(
      "id" -> "id",
      "k" -> s"pmod(xxhash64(id, 1), ${keys}L)",
      "v" -> "pmod(xxhash64(id, 3), 100000)"),
    10)
}
