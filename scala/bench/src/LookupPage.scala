package io.firesteel.bench

import io.firesteel.bench.MarkdownPage.{environment, seconds, spread, table}

/** The page of the lookup room, for people. */
object LookupPage {

  def of(results: Seq[LookupResult], machine: Environment): String = {
    val parts = Seq(heading(machine), targets(results)) ++ results.map(one) :+ environment(machine)
    parts.mkString("\n\n") + "\n"
  }

  private def heading(machine: Environment): String =
    s"""# Measured: lookup
       |
       |Written by ${machine.facts.toMap.getOrElse(
        "command",
        "")}; do not edit. Contestants of a case ran in turn in one JVM, after
       |warm-up, and gave equal answers, or there would be no page. A ratio is the median of the ratios
       |of neighbouring runs, with the smallest and the largest; seconds and counts are medians. A hit is
       |a row whose key was cached or being asked for already, also without a cache.
       |
       |![ratios](lookup.svg)""".stripMargin

  private def targets(results: Seq[LookupResult]): String = {
    val rows = for {
      result <- results
      (target, measured) <- result.judged
    } yield Seq(
      result.question.title,
      s"${target.measure.label} ${bound(target.bound)}",
      if (target.bound.value >= 1000) thousands(measured) else spread(measured),
      target.verdict(measured)
    )
    "## Targets\n\n" + table(Seq("case", "target", "measured", "verdict"), rows)
  }

  private def bound(bound: Bound): String = {
    val sign = bound match {
      case _: Bound.AtLeast => "≥"
      case _: Bound.AtMost => "≤"
    }
    s"$sign ${if (bound.value >= 1000) f"${bound.value}%,.0f" else bound.value.toString}"
  }

  private def one(result: LookupResult): String = {
    val sections = Seq(
      s"## ${result.question.title.capitalize}",
      result.question.note,
      runs(result)) ++ loads(result)
    sections.mkString("\n\n")
  }

  private def runs(result: LookupResult): String = {
    val first = result.question.contestants.head.name
    val rows = result.byContestant.map { case (name, runs) =>
      val time = Sample(runs.map(_.seconds))
      val ratio =
        if (name == first || runs.size != result.rounds.runs(first).size) "–"
        else spread(result.rounds.ratio(first, name))
      Seq(
        if (result.question.once.exists(_.name == name)) s"$name, one run" else name,
        seconds(time),
        ratio,
        f"${result.question.rows / time.median}%,.0f",
        count(runs, _.total(LookupMeasure.requests)),
        share(runs)
      )
    }
    table(
      Seq("contestant", "seconds", s"$first / it", "rows/s", "round trips", "hit rate"),
      rows)
  }

  /** The load of the task that loads most, of a connector for files. */
  private def loads(result: LookupResult): Option[String] = {
    val loading = result.byContestant.filter(_._2.exists(_.most(LookupMeasure.rowsLoaded) > 0))
    Option.when(loading.nonEmpty) {
      val rows = loading.map { case (name, runs) =>
        Seq(
          name,
          mebibytes(runs, _.most(LookupMeasure.bytesRead)),
          count(runs, _.most(LookupMeasure.rowsLoaded)),
          count(runs, _.most(LookupMeasure.bucketsLoaded)),
          mebibytes(runs, _.peakMemoryBytes)
        )
      }
      "The most that one task needs:\n\n" + table(
        Seq("contestant", "bytes read", "rows loaded", "buckets loaded", "peak memory"),
        rows)
    }
  }

  private def count(runs: Seq[Run], of: Run => Long): String = {
    val found = Sample(runs.map(of(_).toDouble)).median
    if (found == 0) "–" else f"$found%,.0f"
  }

  private def share(runs: Seq[Run]): String = {
    val rates = runs.flatMap(LookupMeasure.hitRate)
    if (rates.isEmpty) "–" else f"${Sample(rates).median * 100}%.1f %%"
  }

  private def mebibytes(runs: Seq[Run], of: Run => Long): String =
    f"${Sample(runs.map(of(_).toDouble)).median / (1 << 20)}%,.1f MiB"

  private def thousands(sample: Sample): String =
    f"${sample.median}%,.0f (${sample.min}%,.0f–${sample.max}%,.0f)"
}
