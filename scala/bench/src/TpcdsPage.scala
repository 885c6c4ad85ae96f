package io.firesteel.bench

import io.firesteel.bench.MarkdownPage.{environment, spread, table}

/** The page of TPC-DS, for people. */
object TpcdsPage {

  def of(results: TpcdsResults): String = {
    val parts = Seq(
      Some(heading(results)),
      Some(targets(results)),
      wrong(results),
      asked(results),
      means(results),
      subsetKeys(results),
      Some(queries(results)),
      Some(environment(results.environment))
    )
    parts.flatten.mkString("\n\n") + "\n"
  }

  private def heading(results: TpcdsResults): String = {
    val command = results.environment.facts.toMap.getOrElse("command", "")
    val against =
      if (results.noise) "Stock Spark was timed against itself: every ratio below is noise."
      else
        "Stock Spark and firesteel, with all of its rules, ran in turn in one JVM, after warm-up."
    val settings = results.settings.toSeq.sorted.map { case (key, value) => s"`$key=$value`" }
    val set = if (settings.isEmpty) "" else s"\nBoth sides had ${settings.mkString(", ")}."
    s"""# Measured: TPC-DS
       |
       |Written by $command; do not edit. $against
       |The queries are Spark's own, the tables those of the TPC's generator at scale ${TpcdsData.text(
        results.scale)}, not
       |partitioned, all columns analysed with histograms; settings are Spark's defaults, with 200 partitions
       |of a shuffle for adaptive execution to merge. A ratio is the median of the ratios of
       |neighbouring runs, with the smallest and the largest; milliseconds and bytes are medians.$set""".stripMargin
  }

  private def targets(results: TpcdsResults): String = {
    val answers = results.results.map(_.answer)
    val right = answers.count(_.verdict.right)
    val ties = answers.count(_.verdict == Verdict.EqualButForTies)
    val empty = answers.count(_.stock.exists(_.rows == 0))
    val timed = results.results.count(_.times.nonEmpty)
    "## Targets\n\n" + table(
      Seq("target", "measured", "verdict"),
      Seq(Seq(
        s"same answers on all of ${answers.size}",
        s"$right; of these $ties except rows that tie for the last place, $empty empty",
        if (right == answers.size) "met" else "missed"
      )) ++
        Option.when(timed > 0)(Seq(
          s"stock / firesteel ≥ ${TpcdsResults.bound.value} on each",
          s"${timed - results.slower.size} of $timed timed",
          if (results.noise) "–"
          else if (results.slower.isEmpty) "met"
          else s"missed by ${results.slower.map(_.query).mkString(", ")}"
        )) ++ (if (results.noise) Nil else subsetKeysTargets(results))
    )
  }

  private def subsetKeysTargets(results: TpcdsResults): Seq[Seq[String]] = {
    val queries = results.subsetKeysWithFewer
    def row(what: String, of: Option[Double], bound: Bound): Option[Seq[String]] = of.map { found =>
      val verdict = bound.missedBy(found).fold("met")(by => f"missed by ${by * 100}%.1f %%")
      Seq(
        s"$what of the ${queries.size} of subset keys with fewer shuffles ${bound.label}",
        f"$found%.3f",
        verdict)
    }
    row("geometric mean", results.geometricMean(queries), TpcdsResults.subsetKeysFaster).toSeq ++
      row("share of the bytes", results.shareOfBytes(queries), TpcdsResults.subsetKeysBytes)
  }

  private def wrong(results: TpcdsResults): Option[String] = {
    val rows = results.results.map(_.answer).filterNot(_.verdict.right).map { answer =>
      Seq(answer.query, answer.verdict.name, answer.detail.replace("|", "\\|"))
    }
    Option.when(rows.nonEmpty)(
      "## Wrong answers\n\n" + table(Seq("query", "verdict", "what differs"), rows))
  }

  /** Queries that looked slower at first, with the result of the fresh rounds. */
  private def asked(results: TpcdsResults): Option[String] = {
    val rows = for {
      result <- results.results
      times <- result.times
      first <- times.firstLook
    } yield {
      val (low, high) = times.speedUp.medianInterval
      Seq(
        result.query,
        f"$first%.2f",
        f"${times.speedUp.median}%.2f",
        times.stockSeconds.size.toString,
        f"$low%.2f–$high%.2f")
    }
    Option.when(rows.nonEmpty)(
      s"""## Asked again
         |
         |Their first rounds looked slower, and do not count: fresh ones do, until 19 times out of 20 the
         |median is on one side of ${TpcdsResults.bound.value}, ${TpcdsClock.mostRounds} at most.
         |
         |""".stripMargin + table(
        Seq("query", "first look", "stock / firesteel", "rounds", "the median is within"),
        rows))
  }

  private def means(results: TpcdsResults): Option[String] = {
    val fired = results.results.filter(_.answer.firesteel.exists(_.fired.nonEmpty)).map(_.query)
    val lists = Seq(
      "all" -> results.results.map(_.query),
      "those in which a rule fired" -> fired,
      "those with fewer shuffles" -> results.withFewerShuffles,
      "subset keys" -> TpcdsQueries.subsetKeys,
      "subset keys, with fewer shuffles" -> results.subsetKeysWithFewer
    ) ++ results.means
    val rows = lists.flatMap { case (name, queries) =>
      results.geometricMean(queries).map { mean =>
        val found = results.results.count(r => r.times.nonEmpty && queries.contains(r.query))
        val bytes = results.shareOfBytes(queries).fold("–")(share => f"${share * 100}%.1f %%")
        Seq(name, found.toString, f"$mean%.3f", bytes)
      }
    }
    Option.when(rows.nonEmpty)(
      "## Geometric means\n\n" + table(
        Seq("queries", "how many", "stock / firesteel", "bytes shuffled, firesteel of stock"),
        rows))
  }

  private def subsetKeys(results: TpcdsResults): Option[String] = {
    val rows = results.results.filter(r => TpcdsQueries.subsetKeys.contains(r.query)).map(work)
    Option.when(rows.nonEmpty)(
      "## Shuffles by keys and by a subset of them\n\n" + table(workHeader, rows))
  }

  private def queries(results: TpcdsResults): String = {
    val rows = results.results.map { result =>
      val outcome = result.answer.firesteel
      work(result) ++ Seq(
        result.answer.stock.fold("–")(side => f"${side.rows}%,d"),
        counted(outcome.fold(Seq.empty[String])(_.fired)),
        counted(outcome.fold(Seq.empty[String])(_.declined))
      )
    }
    "## Queries\n\n" + table(workHeader ++ Seq("rows", "fired", "declined"), rows)
  }

  private val workHeader = Seq(
    "query",
    "stock / firesteel",
    "stock, ms",
    "firesteel, ms",
    "shuffles, stock",
    "firesteel",
    "bytes shuffled, stock",
    "firesteel")

  private def work(result: TpcdsResult): Seq[String] = {
    def clocked(show: QueryTimes => String): String = result.times.fold("–")(show)
    def milliseconds(seconds: Seq[Double]): String = f"${Sample(seconds).median * 1000}%,.0f"
    def bytes(each: Seq[Long]): String = mebibytes(Sample(each.map(_.toDouble)).median)

    Seq(
      result.query,
      clocked(times => spread(times.speedUp)),
      clocked(times => milliseconds(times.stockSeconds)),
      clocked(times => milliseconds(times.firesteelSeconds)),
      result.answer.stock.fold("–")(_.shuffles.toString),
      result.answer.firesteel.fold("–")(_.shuffles.toString),
      clocked(times => bytes(times.stockBytes)),
      clocked(times => bytes(times.firesteelBytes))
    )
  }

  private def mebibytes(bytes: Double): String =
    if (bytes == 0) "–" else f"${bytes / (1 << 20)}%,.2f MiB"

  /** `PlanTopN, PanesAggregate × 3`. */
  private def counted(words: Seq[String]): String =
    if (words.isEmpty) "–"
    else words.distinct.map { word =>
      val times = words.count(_ == word)
      if (times == 1) word else s"$word × $times"
    }.mkString(", ")
}
