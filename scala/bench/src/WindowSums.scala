package io.firesteel.bench

import java.nio.file.Path

import org.apache.spark.sql.SparkSession

/** Sums of long windows, beside stock Spark, which copies each row into all windows. */
final class WindowSums(
    spark: SparkSession,
    scratch: Path,
    progress: Progress,
    arguments: Arguments) {
  import WindowSums._

  private val files = new OverFiles(spark, arguments.data, progress)
  private val streams = new ReadingStreams(spark, scratch)

  def run(): Seq[Figure] = cases.flatMap { case (window, share, times) =>
    val sql =
      s"""SELECT k, window, sum(v) AS s, count(*) AS c FROM readings
         |GROUP BY k, window(at, '${window.size}', '${window.slide}')""".stripMargin
    val all = files.inOrder(window.table(arguments.rows))
    val parts = (if (share == 1) Seq(1) else Seq(share, 2 * share)).map { its =>
      files.inOrder(window.table(arguments.rows / its))
    }
    FigureResults.providers.take(1).map { case (provider, settings) =>
      val (ours, stock) =
        (
          Contestant(Contestant.firesteel, sql, settings),
          Contestant(Contestant.stock, sql, settings + ("spark.firesteel.enabled" -> "false")))
      def timed(by: Contestant, read: StreamedFiles): Run = by.within(spark) {
        streams.register(read)
        streams.time(sql)
      }
      val answers = Seq(ours, stock).map { by =>
        progress.step(s"${window.title}: answer, ${by.name}")(by.within(spark) {
          streams.register(parts.last)
          streams.answer(sql, Seq("k", "s", "c"))
        })
      }
      if (answers.distinct.size != 1 || answers.head.rows == 0) {
        throw new WrongAnswer(s"${window.title}: ${answers.mkString(", ")}")
      }
      val _ = timed(ours, all)
      val rounds = Rounds.inTurn(progress, window.title, arguments.pairs)(
        ours.name -> (() => timed(ours, all)),
        stock.name -> (() => whole(parts.map(timed(stock, _).seconds), share)))
      Figure(
        name,
        window.title +
          (if (share == 1) "" else s"; stock from 1/$share and 1/${2 * share} of the rows"),
        provider,
        stock.name,
        ours.name,
        rounds,
        Bound.AtLeast(times)
      )
    }
  }
}

object WindowSums {

  val name: String = "sums"

  val note: String =
    s"""`sum` and `count` by `window(at, size, slide)` and a key of ${LongWindow.keys}, append mode, from
       |Parquet in ${LongWindow.batches} micro-batches. Stock Spark copies each row into size / slide
       |windows. Where it takes minutes it reads two parts of the rows, spread over the same days, and its
       |time for all rows follows from both: each row takes as long as any other. Both give the same
       |rows over the smaller part.""".stripMargin

  /** The time for all rows, from that of one part of them, or of two, one twice as large. */
  private def whole(seconds: Seq[Double], share: Int): Run = Run(
    seconds match {
      case Seq(larger, smaller) => larger + (larger - smaller) * 2 * (share - 1)
      case all => all.head
    },
    Nil)

  /**
   * A window, the part of the rows that stock reads, and the target. Of 30 days by 10 minutes stock
   * does not end in five minutes, even with 2,500 rows.
   */
  private val cases: Seq[(LongWindow, Int, Double)] =
    Seq((LongWindow.day, 1, 10.0), (LongWindow.week, 10, 40.0))
}
