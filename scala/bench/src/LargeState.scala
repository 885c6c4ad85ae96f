package io.firesteel.bench

import java.nio.file.{Files, Path}

import org.apache.spark.sql.SparkSession

/** Micro-batches of few rows over many keys in memory: in pages, and in the map of Spark's provider. */
final class LargeState(
    spark: SparkSession,
    scratch: Path,
    progress: Progress,
    arguments: Arguments) {
  import LargeState._

  def run(): Seq[Figure] = cases.map { its =>
    val sides = Seq(pages -> "true", map -> "false").map { case (name, on) =>
      val settings = StreamingSettings.inMemory ++ Map(
        "spark.firesteel.changelog.pagedState.enabled" -> on,
        // A stream that waits looks for files all the time, beside the one that is timed.
        "spark.sql.streaming.pollingDelay" -> "500ms"
      )
      name -> Contestant("", its.sql, settings)
    }
    val streams = sides.map { case (name, contestant) =>
      val folder = Files.createTempDirectory(scratch.toAbsolutePath, "large")
      val stream = contestant.within(spark)(
        new FedStream(spark, folder, its.table, its.sql, Seq("k", "s")))
      contestant.within(spark)(stream.feed(0, its.keys))
      name -> stream
    }
    try {
      val rounds = (0 until warmUps + its.rounds * arguments.pairs).flatMap { i =>
        val from = its.keys + i * its.rows
        val timed = Rounds.order(streams, i).map { case (name, stream) =>
          name -> stream.feed(from, from + its.rows)
        }
        if (i < warmUps) Nil else timed
      }
      if (streams.map(_._2.checksum).distinct.size != 1) throw new WrongAnswer(its.title)
      val memory = streams.map { case (name, stream) =>
        f"$name ${stream.state._1.bytes / 1e6}%.0f MB"
      }
      progress.line(s"${its.title}: ${memory.mkString(", ")}")
      Figure(
        name,
        s"${its.title}; ${memory.mkString(", ")}",
        "in memory",
        pages,
        map,
        FigureResults.rounds(rounds),
        its.bound)
    } finally streams.foreach(_._2.close())
  }
}

object LargeState {

  val name: String = "micro-batches"

  val note: String =
    """A sum by key. The first micro-batch has each key once; what is timed are the micro-batches after
      |it, each with a part of the keys. *Pages*: state as bytes in large arrays. *Map*: the map of rows
      |of Spark's `HDFSBackedStateStoreProvider`, with `spark.firesteel.changelog.pagedState.enabled`
      |false. Both write the same files. The sums of both changelogs are equal. Memory is what the
      |stores report as used.""".stripMargin

  private val (pages, map) = ("pages", "map")
  private val warmUps = 10

  /** @param rounds for each pair that is asked for: short ones vary more */
  final private case class Case(keys: Long, rows: Long, rounds: Int, bound: Bound) {
    val title: String = f"$rows%,d rows, $keys%,d keys"
    val table: Table = Table(
      s"large_$keys",
      keys,
      Seq("k" -> s"pmod(id * 7919, ${keys}L)", "v" -> "pmod(xxhash64(id, 2), 100000)"))
    val sql: String = s"SELECT k, sum(v) AS s FROM ${table.name} GROUP BY k"
  }

  private val cases = Seq(
    Case(2000000L, 1000L, 4, Bound.AtMost(0.5)),
    Case(2000000L, 200000L, 4, Bound.AtMost(1.0)),
    Case(1000L, 1000L, 20, Bound.AtMost(1.05)))
}
