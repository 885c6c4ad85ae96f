package io.firesteel.bench

/** The page of results, for people. */
object MarkdownPage {

  def of(results: Results): String = {
    val parts = Seq(
      Some(heading(results)),
      Some(targets(results)),
      notes(results.cases),
      memory(results),
      Some(times(results.cases)),
      Some(work(results.cases)),
      Some(tasks(results.cases)),
      Some(environment(results.environment))
    )
    parts.flatten.mkString("\n\n") + "\n"
  }

  private def heading(results: Results): String = {
    val command = results.environment.facts.toMap.getOrElse("command", "")
    val against =
      if (results.noise) "Stock Spark was timed against itself: every ratio below is noise."
      else "Stock Spark and firesteel were timed in turn in one JVM, after warm-up."
    val sizes =
      if (results.cases.flatMap(_.question.sizeOverSlide).distinct.size < 2) ""
      else s"\n\n![cost by size over slide](${results.fileName}-sizes.svg)"
    s"""# Measured: ${results.room.name}
       |
       |Written by $command; do not edit. $against
       |A ratio is the median of the ratios of neighbouring runs, with the smallest and the largest;
       |seconds are medians. Both sides gave equal answers in every case, or there would be no page.
       |
       |![ratios](${results.fileName}.svg)$sizes""".stripMargin
  }

  private def notes(cases: Seq[CaseResult]): Option[String] = {
    val noted = cases.map(_.question).filter(_.note.nonEmpty)
    Option.when(noted.nonEmpty)(
      noted.map(question => s"- ${question.title}: ${question.note}").mkString(
        "## Notes\n\n",
        "\n",
        ""))
  }

  private def targets(results: Results): String = {
    val rows = for {
      result <- results.cases
      (target, measured) <- result.judged
    } yield Seq(
      result.question.title,
      target.label.replace("<=", "≤").replace(">=", "≥"),
      spread(measured),
      if (results.noise) "–" else target.verdict(measured))
    "## Targets\n\n" + table(Seq("case", "target", "measured", "verdict"), rows)
  }

  private def memory(results: Results): Option[String] = results.room.memory.flatMap { question =>
    val title = s"## ${question.title} at ${question.heapMiB} MiB of heap\n\n"
    results.memory match {
      case Memory.NotRun => None
      case Memory.DidNotComplete => Some(s"${title}Missed: it did not complete.")
      case Memory.Completed(outcomes) =>
        val rows = outcomes.map { o =>
          Seq(
            o.title,
            "completes, answer as by arithmetic",
            "met",
            f"${o.answerRows}%,d",
            f"${o.firesteelSeconds}%.1f s",
            f"${o.stockSeconds}%.1f s",
            mebibytes(o.spilledBytes),
            orDash(o.fired)
          )
        }
        Some(title + "One run each, in a JVM of its own.\n\n" + table(
          Seq("case", "target", "verdict", "rows", "firesteel", "stock", "spilled", "fired"),
          rows))
    }
  }

  private def times(cases: Seq[CaseResult]): String = {
    val rows = cases.map { result =>
      val beside = result.question.references.map { reference =>
        s"${reference.name} ${seconds(result.rounds.seconds(reference.name))}"
      }
      Seq(result.question.title, spread(result.speedUp)) ++
        Seq(Contestant.stock, Contestant.firesteel, Contestant.scan, Contestant.scanAndSum)
          .map(name => seconds(result.rounds.seconds(name))) ++
        Seq(
          spread(result.rounds.ratio(Contestant.stock, Contestant.scan)),
          spread(result.rounds.ratio(Contestant.firesteel, Contestant.scan)),
          orDash(beside))
    }
    "## Seconds\n\n" + table(
      Seq(
        "case",
        "stock / firesteel",
        "stock",
        "firesteel",
        "scan",
        "scan and sum",
        "stock / scan",
        "firesteel / scan",
        "beside it"),
      rows)
  }

  private def work(cases: Seq[CaseResult]): String = {
    val rows = cases.map { result =>
      val (stock, ours) = (result.stock.run, result.firesteel.run)
      Seq(result.question.title, f"${stock.answer.rows}%,d") ++
        Seq(stock, ours).map(run => f"${run.cost.rowsShuffled}%,d") ++
        Seq(Contestant.stock, Contestant.firesteel)
          .map(side => mebibytes(result.rounds.shuffledBytes(side).median.toLong)) ++
        Seq(stock, ours).map(_.cost.rowsSorted.fold("not counted")(rows => f"$rows%,d")) ++
        Seq(stock, ours).map(run => mebibytes(run.cost.spilledBytes)) :+
        orDash(result.firesteel.fired.map(rule => s"fired: $rule") ++
          result.firesteel.declined.map(code => s"declined: $code"))
    }
    "## Work\n\n" + table(
      Seq(
        "case",
        "answer, rows",
        "shuffled, stock",
        "shuffled, firesteel",
        "bytes shuffled, stock",
        "bytes shuffled, firesteel",
        "sorted, stock",
        "sorted, firesteel",
        "spilled, stock",
        "spilled, firesteel",
        "rules"
      ),
      rows
    )
  }

  private def tasks(cases: Seq[CaseResult]): String = {
    val rows = cases.map { result =>
      val sides = Seq(Contestant.stock, Contestant.firesteel)
      result.question.title +: (
        sides.map(side => spread(result.rounds.slowestTask(side))) ++
          sides.map { side =>
            val (most, mean) = result.rounds.runs(side).last.shuffledRowsPerTask
            f"$most%,d of $mean%,.0f"
          })
    }
    """## Tasks
      |
      |The slowest task beside the mean of its stage, in the stages with a tenth or more of the task
      |time; and the most rows that one task read from an exchange, of the mean.
      |
      |""".stripMargin + table(
      Seq("case", "slowest, stock", "slowest, firesteel", "rows, stock", "rows, firesteel"),
      rows)
  }

  private[bench] def environment(environment: Environment): String =
    "## Machine\n\n" + table(
      Seq("what", "value"),
      environment.facts.map { case (name, value) => Seq(name, value) })

  private[bench] def table(header: Seq[String], rows: Seq[Seq[String]]): String =
    (header +: header.map(_ => "---") +: rows).map(_.mkString("| ", " | ", " |")).mkString("\n")

  private[bench] def spread(sample: Sample): String =
    f"${sample.median}%.2f (${sample.min}%.2f–${sample.max}%.2f)"

  /** More digits for a query that takes milliseconds. */
  private[bench] def seconds(sample: Sample): String =
    if (sample.median >= 1) spread(sample)
    else f"${sample.median}%.3f (${sample.min}%.3f–${sample.max}%.3f)"

  private def mebibytes(bytes: Long): String =
    if (bytes == 0) "–"
    else if (bytes < (10 << 20)) f"${bytes.toDouble / (1 << 20)}%,.2f MiB"
    else f"${bytes.toDouble / (1 << 20)}%,.0f MiB"

  private def orDash(words: Seq[String]): String = if (words.isEmpty) "–" else words.mkString(", ")
}
