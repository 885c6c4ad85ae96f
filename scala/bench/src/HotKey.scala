package io.firesteel.bench

import java.nio.file.{Files, Path}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state.StateStore

/** An outer join with most rows of the preserved side in one key: does a change cost more there? */
final class HotKey(spark: SparkSession, scratch: Path, progress: Progress, arguments: Arguments) {
  import HotKey._

  // A stream that waits looks for files all the time, beside the one that is timed.
  private val settings =
    StreamingSettings.rocksDb + ("spark.sql.streaming.pollingDelay" -> "500ms")

  def run(): Seq[Figure] = Contestant("", "", settings).within(spark) {
    val streams = Seq(few, many).map { rows =>
      val folder = Files.createTempDirectory(scratch.toAbsolutePath, "hot")
      progress.step(f"$name: $rows%,d rows of one key")(new HotStream(spark, folder, rows))
    }
    try {
      progress.step(s"$name: warm-up")((0 until warmUps).foreach(i => round(streams, i)))
      val all = (0 until arguments.pairs).flatMap { i =>
        progress.stepWithOutcome(s"$name: round ${i + 1}")(round(streams, warmUps + i))(
          _.map { case (what, seconds) => f"$what $seconds%.3f" }.mkString("(", ", ", ")"))
      }
      val rounds = FigureResults.rounds(all)
      changes.map { change =>
        Figure(
          name,
          change.title,
          "RocksDB",
          called(change, many),
          called(change, few),
          rounds,
          Bound.AtMost(change.most))
      }
    } finally {
      streams.foreach(_.close())
      StateStore.stop()
    }
  }

  private def round(streams: Seq[HotStream], number: Int): Seq[(String, Double)] =
    Rounds.order(streams, number).flatMap { stream =>
      changes.map(change => called(change, stream.rows) -> stream.apply(change, number))
    }
}

object HotKey {

  val name: String = "hot-key"

  val note: String =
    """A left outer join on RocksDB; nine of ten rows of the left side have one key, 10,000 in one query and
      |1,000,000 in the other. Adding and deleting 1,000 of them should cost the same in both. When the
      |first right row of the key comes and when it goes, every left row of the key changes in the
      |result: 100 times the output may cost 100 times as much.""".stripMargin

  private val few = 10000L
  private val many = 1000000L
  private val warmUps = 2

  /** Rows of a micro-batch of changes. */
  val changed: Long = 1000L

  /** @param most times of the larger key's time to the smaller's */
  sealed abstract class Change(val title: String, val most: Double)
  case object Adds extends Change("1,000 left rows of the key come", 1.5)
  case object Deletes extends Change("1,000 left rows of the key go", 1.5)
  case object RightComes extends Change("the first right row comes", 100)
  case object RightGoes extends Change("the last right row goes", 100)

  val changes: Seq[Change] = Seq(Adds, Deletes, RightComes, RightGoes)

  private def called(change: Change, rows: Long): String = f"${change.title}, $rows%,d in it"
}
