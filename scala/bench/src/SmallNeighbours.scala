package io.firesteel.bench

import java.nio.file.{Files, Path}

import org.apache.spark.sql.SparkSession

/** Micro-batches of one row: four operators of one key with one store and with four, and one alone. */
final class SmallNeighbours(
    spark: SparkSession,
    scratch: Path,
    progress: Progress,
    arguments: Arguments) {
  import SmallNeighbours._

  def run(): Seq[Figure] = FigureResults.providers.flatMap { case (provider, settings) =>
    val all = settings ++ Map(
      "spark.sql.shuffle.partitions" -> partitions.toString,
      // A stream that waits looks for files all the time, beside the one that is timed.
      "spark.sql.streaming.pollingDelay" -> "500ms"
    )
    val sides = Seq(
      four -> (sql, true),
      apart -> (sql, false),
      one -> (alone, true)).map { case (name, (query, on)) =>
      name -> Contestant("", query, all ++ Neighbours.switches.map(_ -> on.toString))
    }
    val streams = sides.map { case (name, contestant) =>
      val folder = Files.createTempDirectory(scratch.toAbsolutePath, "small")
      val stream = contestant.within(spark)(
        new FedStream(spark, folder, table, contestant.sql, Seq("k", "s")))
      contestant.within(spark)(stream.feed(0, before))
      name -> stream
    }
    try {
      val rounds = (0 until warmUps + batches).flatMap { i =>
        val timed = Rounds.order(streams, i).map { case (name, stream) =>
          name -> stream.feed(before + i, before + i + 1)
        }
        if (i < warmUps) Nil else timed
      }
      progress.line(s"$name, $provider: ${rounds.groupMap(_._1)(_._2).map { case (n, s) =>
          f"$n ${Sample(s).median}%.3f s"
        }.mkString(", ")}")
      val measured = FigureResults.rounds(rounds)
      Seq(
        Figure(name, "four operators", provider, four, apart, measured, Bound.AtMost(0.5)),
        Figure(name, "four and one", provider, four, one, measured, Bound.AtMost(2.0))
      )
    } finally streams.foreach(_._2.close())
  }

  private def batches = 4 * arguments.pairs
}

object SmallNeighbours {

  val name: String = "small"

  val note: String =
    """A micro-batch of one row over state of 100,000 rows and 1,000 keys, in four partitions: a Top-5, its
      |sum, the sum's rank and a count, all of one key. They share one store, or each has one of its
      |own; a sum alone is one operator.""".stripMargin

  private val (four, apart, one) = ("one store", "four stores", "one operator")
  private val partitions = 4
  private val before = 100000L
  private val warmUps = 5

  private val table = Table(
    "fed_chain",
    before,
    Seq("k" -> "pmod(xxhash64(id, 1), 1000)", "v" -> "pmod(xxhash64(id, 2), 100000)", "id" -> "id"))

  private val alone = "SELECT k, sum(v) AS s FROM fed_chain GROUP BY k"

  private val sql =
    """SELECT k, max(s) AS s FROM (
      |  SELECT * FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY s DESC) AS r FROM (
      |    SELECT k, sum(v) AS s FROM (
      |      SELECT k, v, id, row_number() OVER (PARTITION BY k ORDER BY v DESC, id) AS rn FROM fed_chain)
      |    WHERE rn <= 5 GROUP BY k)) WHERE r = 1)
      |GROUP BY k""".stripMargin
}
