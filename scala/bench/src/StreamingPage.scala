package io.firesteel.bench

import io.firesteel.bench.MarkdownPage.{environment, seconds, spread, table}

/** The page of streaming queries, for people. */
object StreamingPage {

  def of(results: StreamingResults): String = {
    val parts = Seq(
      Some(heading(results)),
      Some(targets(results)),
      times(results.cases),
      stock(results.cases),
      smallBatches(results.smallBatches),
      results.manyKeys.map(manyKeys)
    ) ++
      Seq(Some(FlinkNote.text).filter(_ => results.cases.nonEmpty)) ++
      results.cases.map(one => Some(details(one))) :+
      Some(environment(results.environment))
    parts.flatten.mkString("\n\n") + "\n"
  }

  private def heading(results: StreamingResults): String = {
    val command = results.environment.facts.toMap.getOrElse("command", "")
    val picture = if (results.cases.isEmpty) "" else s"\n\n![ratios](${results.name}.svg)"
    s"""# Measured: streaming queries beside Apache Flink
       |
       |Written by $command; do not edit. firesteel and Flink ran in turn, each in a JVM with two
       |tasks on the same two cores, over the same ${names(
        results.format)} files. Rounds count from where both
       |have run for ${WarmUp.seconds.toInt} s, and have compiled what they run.
       |A ratio is the median of the ratios of neighbouring runs, with the smallest and the largest; seconds
       |are medians. Both gave the answer of the batch query, or there would be no page.$picture""".stripMargin
  }

  private def names(format: String): String =
    Map("csv" -> "CSV", "parquet" -> "Parquet", "json" -> "JSON").getOrElse(format, format)

  private def targets(results: StreamingResults): String = {
    val beside = for {
      result <- results.cases
      target <- result.target
    } yield Seq(
      result.question.title,
      s"${target.measure.label} ≥ ${target.bound.value}",
      spread(result.speedUp),
      target.verdict(result.speedUp))
    val small = results.smallBatches.headOption.map { outcome =>
      Seq(
        SmallBatches.title,
        s"seconds ≤ ${SmallBatches.target.value}",
        seconds(outcome.sample),
        verdict(SmallBatches.target, outcome.sample))
    }
    val many = results.manyKeys.map {
      case None => Seq(ManyKeys.title, "runs", "it did not complete", "missed")
      case Some(outcome) => Seq(
          ManyKeys.title,
          s"seconds per micro-batch, many keys / few ≤ ${ManyKeys.target.value}",
          spread(outcome.slowdown),
          verdict(ManyKeys.target, outcome.slowdown)
        )
    }
    "## Targets\n\n" + table(
      Seq("case", "target", "measured", "verdict"),
      beside ++ small ++ many)
  }

  private def verdict(bound: Bound, measured: Sample): String =
    bound.missedBy(measured.median).fold("met")(by => f"missed by ${by * 100}%.1f %%")

  private def times(cases: Seq[StreamingResult]): Option[String] = {
    val rows = cases.map { result =>
      Seq(
        result.question.title,
        f"${result.question.table.rows}%,d",
        result.warmUps.runs(StreamingContestant.firesteel).size.toString,
        spread(result.speedUp)) ++
        StreamingContestant.all.map(name => seconds(result.rounds.seconds(name)))
    }
    Option.when(rows.nonEmpty)(
      """## Seconds
        |
        |From SQL text to the end of the job. firesteel and Flink ran in turn; the others once each, after
        |them. The scans read the columns that the query reads, drop the rows, and are part of every other
        |time.
        |
        |""".stripMargin + table(
        Seq("case", "rows", "rounds before", StreamingMeasure.label) ++ StreamingContestant.all,
        rows))
  }

  private def stock(cases: Seq[StreamingResult]): Option[String] = {
    val rows = cases.map { result =>
      Seq(
        result.question.title,
        outcome(result.stock.asItComes, result.truth),
        if (result.stock.unchecked == result.stock.asItComes) "the same"
        else outcome(result.stock.unchecked, result.truth),
        shown(result.truth),
        "equal, both"
      )
    }
    Option.when(rows.nonEmpty)(
      """## Stock Spark
        |
        |Asked the same, as it comes and with
        |`spark.sql.streaming.statefulOperator.checkCorrectness.enabled=false`, in complete mode where the
        |query aggregates and in append mode where not. An answer of several rows is shown by their number
        |and the sum of a hash of each.
        |
        |""".stripMargin + table(
        Seq("case", "stock", "stock, check off", "the batch query", "firesteel and Flink"),
        rows))
  }

  private def shown(answer: StockOutcome.Answered): String =
    answer.only.getOrElse(answer.answer.toString)

  private def outcome(outcome: StockOutcome, truth: StockOutcome): String = outcome match {
    case StockOutcome.Refused(condition, message) =>
      s"refused: `$condition` ${message.replace("|", "\\|")}"
    case answered: StockOutcome.Answered =>
      if (answered == truth) shown(answered) else s"**wrong**: ${shown(answered)}"
  }

  private def smallBatches(outcomes: Seq[SmallBatchesOutcome]): Option[String] = {
    val rows = outcomes.map { outcome =>
      Seq(
        outcome.provider,
        outcome.operators.toString,
        outcome.partitions.toString,
        f"${outcome.stateRows}%,d",
        seconds(outcome.sample),
        outcome.seconds.size.toString
      )
    }
    Option.when(rows.nonEmpty)(
      s"""## ${SmallBatches.title.capitalize}
         |
         |The whole micro-batch, from the listing of the files to the commit of the offsets.
         |
         |```sql
         |${SmallBatches.sql}
         |```
         |
         |""".stripMargin + table(
        Seq(
          "state",
          "stateful operators",
          "partitions",
          "rows in state",
          "seconds",
          "micro-batches"),
        rows))
  }

  private def manyKeys(outcome: Option[ManyKeysOutcome]): String = {
    val found = outcome.fold("It did not complete.") { o =>
      table(
        Seq("keys", f"seconds for a micro-batch of ${o.rowsPerBatch}%,d rows"),
        Seq(
          Seq(f"${o.fewKeys}%,d", seconds(Sample(o.atFew))),
          Seq(f"${o.manyKeys}%,d", seconds(Sample(o.atMany))))
      ) +
        f"\n\nHeap ${o.heapMiB}%,d MiB; ${o.stateRows}%,d rows in state; " +
        f"${o.loadSeconds}%.0f s to go from the few keys to the many."
    }
    s"""## ${ManyKeys.title.capitalize}
       |
       |The rows fall on keys that are there, all equally likely. The changelog of the whole run adds up to
       |the answer of the batch query.
       |
       |```sql
       |${ManyKeys.sql}
       |```
       |
       |""".stripMargin + found
  }

  private def details(result: StreamingResult): String = {
    val question = result.question
    s"""## ${question.title.capitalize}
       |
       |${question.note} firesteel: ${result.batches} micro-batches, at the end ${f"${result.state.rows}%,d"} rows in
       |state; stateful operators ${result.operators.mkString(", ")}.
       |
       |```sql
       |${question.sql}
       |```
       |
       |Flink's plan:
       |
       |""".stripMargin + s"```text\n${FlinkNote.physical(result.flinkPlan)}\n```"
  }
}
