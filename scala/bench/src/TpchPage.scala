package io.firesteel.bench

import io.firesteel.bench.MarkdownPage.{environment, seconds, spread, table}

/** The page of TPC-H over streams. */
object TpchPage {

  private val (mean, least) = (1.5, 0.7)

  def of(results: TpchResults): String =
    (Seq(heading(results), targets(results), times(results)) ++ results.results.map(plans) :+
      environment(results.environment)).mkString("\n\n") + "\n"

  private def heading(results: TpchResults): String = {
    val command = results.environment.facts.toMap.getOrElse("command", "")
    val settings = FlinkJobs.settings.toSeq.sorted.map { case (key, value) => s"`$key` $value" }
    s"""# Measured: TPC-H over streams, beside Apache Flink
       |
       |Written by $command; do not edit. The queries of TPC-H at scale ${results.scale}: every table
       |but region and nation is a stream of ${TpchMain.parts} Parquet files. firesteel and Flink ran in
       |turn, each in a JVM with two tasks on the same two cores, after one run of each. Both had as many
       |rows in the end as the batch query, or there would be no page. The values are compared by the
       |tests, for firesteel only.
       |
       |firesteel reads ${TpchMain.filesPerBatch} files of each table in each micro-batch, and commits its state in each, by
       |Spark's default provider; it emits every change (`row_kind()`, append mode). Flink reads the files
       |as bounded streams, in streaming mode, without checkpoints, with ${settings.mkString(", ")}.
       |A last `ORDER BY` without `LIMIT` is left out.""".stripMargin
  }

  private def targets(results: TpchResults): String = {
    val slow = results.results.filter(_.speedUp.exists(_.median < least)).map(_.query)
    val found = results.geometricMean
    "## Targets\n\n" + table(
      Seq("target", "measured", "verdict"),
      Seq(
        Seq(
          s"geometric mean of Flink / firesteel ≥ $mean",
          found.fold("–")(its => f"$its%.2f"),
          if (found.exists(_ >= mean)) "met" else "missed"),
        Seq(
          s"no query below $least",
          if (slow.isEmpty) "none" else slow.mkString(", "),
          if (slow.isEmpty) "met" else "missed")
      )
    )
  }

  private def times(results: TpchResults): String = "## Seconds\n\n" + table(
    Seq("query", "rows", "micro-batches", "Flink / firesteel", "firesteel", "Flink"),
    results.results.map { its =>
      Seq(
        its.query,
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

  private def plans(result: TpchResult): String = {
    val theirs =
      result.flink.fold(_ => "", plan => s"\n\n```text\n${FlinkNote.physical(plan)}\n```")
    s"""## ${result.query}
       |
       |firesteel's stateful operators, from the sink down: ${result.operators.mkString(
        "; ")}.""".stripMargin + theirs
  }
}
