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
    query <- NeighbourQueries.all
    (provider, settings) <- FigureResults.providers.take(if (query.onDisk) 2 else 1)
  } yield {
    register(query)
    val what = query.title + query.keys.fold("")(n => f", $n%,d keys")
    val title = s"$what, $provider"
    val sides = both(query, settings)
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
    Figure(name, what, provider, apart, together, Rounds(runs.groupMap(_._1)(_._2)), query.bound)
  }

  private def register(query: NeighbourQuery): Unit = query.keys match {
    case Some(keys) =>
      StreamedFiles.make(spark, data, table(arguments.rows, keys), "parquet")
        .stream(spark, perBatch = 1).createOrReplaceTempView("t")
    case None =>
      val events = arguments.rows * 2 / 5
      val files = new NexmarkFiles(spark, arguments.data, events, NexmarkMain.parts, progress)
      files.make()
      files.registerStreams(NexmarkMain.filesPerBatch, closes = true)
  }

  private def both(
      query: NeighbourQuery,
      settings: Map[String, String]): Seq[(String, Contestant)] =
    Seq((together, "true", query.settings), (apart, "false", Nil)).map { case (name, on, more) =>
      name -> Contestant("", query.sql, settings ++ switches.map(_ -> on) ++ more)
    }

  private def timed(sql: String): Run = ScratchCheckpoint.in(scratch) { checkpoint =>
    System.gc()
    tasks.time {
      spark.sql(s"SELECT *, row_kind() AS op FROM ($sql)").writeStream.format("noop")
        .outputMode("append").option("checkpointLocation", checkpoint.toString)
        .trigger(Trigger.AvailableNow).start().awaitTermination()
    }
  }

  private def answer(query: NeighbourQuery): Checksum =
    ScratchCheckpoint.in(scratch) { checkpoint =>
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
    """Rows of Parquet in ten micro-batches; the events of Nexmark, two for five rows, in two. *Together*:
      |without shuffles between operators of one key, which share a store; operators by key and item
      |lie by key alone, as a setting allows. *Apart*: with the settings off. The sums of both
      |changelogs are equal.""".stripMargin

  val (together, apart) = ("together", "apart")

  val switches: Seq[String] = Seq(
    "spark.firesteel.changelog.removeShuffles",
    "spark.firesteel.changelog.multipleInput.enabled")

  private def table(rows: Long, keys: Long): Table = Table(
    s"chains_$keys",
    rows,
    Seq(
      "id" -> "id",
      "k" -> s"pmod(xxhash64(id, 1), ${keys}L)",
      "item" -> "pmod(xxhash64(id, 2), 20)",
      "v" -> "pmod(xxhash64(id, 3), 100000)"),
    10
  )
}
