package io.firesteel.bench

import java.nio.file.{Path, Paths}

/**
 * The command line of TPC-DS.
 *
 * @param queries all 103 if none is named
 * @param settings for both sides, added to those of the session
 * @param means queries for another geometric mean
 * @param answersOnly compare answers without the clock
 * @param resume continue the previous run, if it has the same commit and options
 */
final case class TpcdsArguments(
    scale: Double,
    queries: Seq[String],
    pairs: Int,
    settings: Map[String, String],
    means: Seq[Seq[String]],
    data: Path,
    out: Path,
    noise: Boolean,
    answersOnly: Boolean,
    resume: Boolean,
    command: String)

object TpcdsArguments {

  val usage: String =
    """usage: build/bench tpcds [options]
      |  --case Q,Q     only these queries, such as q12,q67; may be given again
      |  --scale N      gigabytes of the tables as text (default 1)
      |  --pairs N      rounds that count for each query (default 5); a query that looks slower gets more
      |  --set KEY=VALUE  for both sides, such as spark.sql.cbo.enabled=true; may be given again
      |  --mean Q,Q     one more geometric mean, over these queries; may be given again
      |  --answers-only compare the answers and leave out the clock
      |  --resume       go on with the run before, if it was of the same commit and options
      |  --data DIR     where generated tables are kept (default .data)
      |  --out DIR      where the page and the JSON go (default: scala/bench/results, which is
      |                 committed; for part of the run, or another, target/bench)
      |  --noise        time stock against itself: how much the machine wobbles""".stripMargin

  private val values =
    Set("--room", "--case", "--scale", "--pairs", "--set", "--mean", "--data", "--out")
  private val flags = Set("--noise", "--answers-only", "--resume")
  private val unseen = Set("--room", "--data", "--out", "--resume")

  def parse(arguments: Seq[String]): Either[String, TpcdsArguments] =
    for {
      read <- Options.parse(arguments, values, flags)
      scale <- scaleOf(read.one("--scale").getOrElse("1"))
      pairs <- read.positive("--pairs", 5L)
      queries <- known(read.all("--case").flatMap(listed))
      means <- all(read.all("--mean").map(list => known(listed(list))))
      settings <- all(read.all("--set").map(setting))
    } yield TpcdsArguments(
      scale,
      if (queries.isEmpty) TpcdsQueries.names else TpcdsQueries.names.filter(queries.contains),
      pairs.toInt,
      settings.toMap,
      means,
      Paths.get(read.one("--data").getOrElse(".data")),
      Paths.get(read.one("--out").getOrElse("target/bench")),
      noise = read.has("--noise"),
      answersOnly = read.has("--answers-only"),
      resume = read.has("--resume"),
      read.command("build/bench tpcds", unseen)
    )

  private def listed(text: String): Seq[String] = text.split(',').toSeq.map(_.trim)

  private def known(queries: Seq[String]): Either[String, Seq[String]] =
    queries.filterNot(TpcdsQueries.names.contains) match {
      case Nil => Right(queries)
      case others => Left(s"no query ${others.mkString(", ")}; there are q1 to q99, and " +
          "q14a, q14b, q23a, q23b, q24a, q24b, q39a and q39b")
    }

  private def scaleOf(text: String): Either[String, Double] =
    text.toDoubleOption
      .filter(scale => scale > 0 && scale <= 1000)
      .toRight(s"--scale must be a number above 0, at most 1000, not $text")

  private def setting(text: String): Either[String, (String, String)] = text.split("=", 2) match {
    case Array(key, value) => Right(key -> value)
    case _ => Left(s"--set needs KEY=VALUE, not $text")
  }

  private def all[A](each: Seq[Either[String, A]]): Either[String, Seq[A]] =
    each.collectFirst { case Left(wrong) => Left(wrong) }.getOrElse(Right(each.flatMap(_.toSeq)))
}
