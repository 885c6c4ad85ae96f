package io.firesteel.bench

import io.firesteel.bench.MarkdownPage.{environment, seconds, spread, table}

/** What the pages of suites have in common. */
object SuitePage {

  /** The parts of a page, in their order. */
  def of(parts: Seq[String], results: SuiteResults): String =
    (parts ++ results.results.map(plans) :+ environment(results.environment))
      .mkString("\n\n") + "\n"

  def command(results: SuiteResults): String =
    results.environment.facts.toMap.getOrElse("command", "")

  /** How Flink ran. */
  val flink: String = {
    val settings = FlinkJobs.settings.toSeq.sorted.map { case (key, value) => s"`$key` $value" }
    "Flink reads the files\nas bounded streams, in streaming mode, without checkpoints, with " +
      s"${settings.mkString(", ")}."
  }

  /** A target for the mean of some queries, and one for each of them. */
  def targets(results: Seq[SuiteResult], mean: Double, least: Double, of: String): String = {
    val slow = results.filter(_.speedUp.exists(_.median < least)).map(_.query)
    val found = SuiteResults.geometricMean(results)
    "## Targets\n\n" + table(
      Seq("target", "measured", "verdict"),
      Seq(
        Seq(
          s"geometric mean of Flink / firesteel$of ≥ $mean",
          found.fold("–")(its => f"$its%.2f"),
          if (found.exists(_ >= mean)) "met" else "missed"),
        Seq(
          s"no query$of below $least",
          if (slow.isEmpty) "none" else slow.mkString(", "),
          if (slow.isEmpty) "met" else "missed")
      )
    )
  }

  def times(results: Seq[SuiteResult]): String = table(
    Seq("query", "mode", "rows", "micro-batches", "Flink / firesteel", "firesteel", "Flink"),
    results.map { its =>
      Seq(
        its.query,
        its.mode,
        f"${its.rows}%,d",
        its.batches.toString,
        its.speedUp.fold("–")(spread),
        seconds(its.rounds.seconds(StreamingContestant.firesteel)),
        its.flink.fold(
          why => s"refused: ${why.replace("|", "\\|").take(200)}",
          _ => seconds(its.rounds.seconds(StreamingContestant.flink)))
      )
    }
  )

  private def plans(result: SuiteResult): String = {
    val operators =
      if (result.operators.isEmpty) "none" else result.operators.mkString("; ")
    val theirs =
      result.flink.fold(_ => "", plan => s"\n\n```text\n${FlinkNote.physical(plan)}\n```")
    s"""## ${result.query}
       |
       |firesteel's stateful operators, from the sink down: $operators.""".stripMargin + theirs
  }
}
