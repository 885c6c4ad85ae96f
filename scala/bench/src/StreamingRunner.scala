package io.firesteel.bench

import java.nio.file.Path

import org.apache.spark.sql.SparkSession

/**
 * Runs one case: checks firesteel and Flink against the batch query, warms both up, times the two
 * in turn, and last the others, which show how the time divides.
 *
 * @param format of the files
 * @param pairs rounds that count; in each of them firesteel and Flink run once
 */
final class StreamingRunner(
    spark: SparkSession,
    flink: FlinkProcess,
    data: DataFolder,
    format: String,
    scratch: Path,
    progress: Progress,
    pairs: Int) {

  private val ours = new OurStream(spark, new TaskLog(spark.sparkContext), scratch)

  private val stock = new StockStream(spark)

  def run(question: StreamingCase): StreamingResult = {
    val files = StreamedFiles.make(spark, data, question.table, format)
    val truth = progress.step(s"${question.name}: the batch query")(batchAnswer(question, files))
    if (truth.answer.rows == 0) throw new WrongAnswer(s"${question.name}: the answer is empty")
    ours.register(question, files)
    val jobs = new FlinkJobs(question, files, scratch)

    val once = progress.step(s"${question.name}: answer of firesteel")(ours.answer(
      question.sql,
      question.answer))
    agree(question, truth.answer, StreamingContestant.firesteel, once.answer)
    agree(
      question,
      truth.answer,
      StreamingContestant.flink,
      progress.step(s"${question.name}: answer of Flink")(flink.checksum(jobs.answer)))
    val verdict = progress.step(s"${question.name}: stock")(stock.verdict(question))

    val two = rivals(question, jobs)
    val warmUps = WarmUp.until(round(question, two, "warm-up", _))
    val runs = (0 until pairs).flatMap(round(question, two, "round", _)) ++
      round(question, others(question, jobs), "beside them", 0)
    StreamingResult(
      question,
      truth,
      verdict,
      once.batches,
      once.state,
      once.operators,
      flink.plan(jobs.timed),
      warmUps,
      Rounds(runs.groupMap(_._1)(_._2)))
  }

  private def rivals(question: StreamingCase, jobs: FlinkJobs): Seq[(String, () => Run)] =
    Seq(
      StreamingContestant.firesteel -> (() => ours.time(question.sql, question.mode)),
      StreamingContestant.flink -> (() => flink.time(jobs.timed)))

  private def others(question: StreamingCase, jobs: FlinkJobs): Seq[(String, () => Run)] = {
    val rocksDb = Contestant("", "", StreamingSettings.rocksDb)
    Seq(
      StreamingContestant.rocksDb -> (() =>
        rocksDb.within(spark)(ours.time(question.sql, question.mode))),
      StreamingContestant.flinkCheckpoints -> (() => flink.time(jobs.withCheckpoints)),
      StreamingContestant.sparkScan -> (() => ours.timeScan(question)),
      StreamingContestant.flinkScan -> (() => flink.time(jobs.scan))
    )
  }

  private def batchAnswer(
      question: StreamingCase,
      files: StreamedFiles): StockOutcome.Answered = {
    files.batch(spark).createOrReplaceTempView(question.table.name)
    Contestant(
      Contestant.stock,
      question.sql,
      Map("spark.firesteel.enabled" -> "false")).query(spark)(StockOutcome.answered(_, question))
  }

  /** A benchmark of wrong answers has no value, so the run ends. */
  private def agree(question: StreamingCase, truth: Checksum, who: String, found: Checksum): Unit =
    if (found != truth) {
      throw new WrongAnswer(s"${question.name}: the batch query answers $truth, $who $found")
    }

  private def round(
      question: StreamingCase,
      contestants: Seq[(String, () => Run)],
      kind: String,
      number: Int): Seq[(String, Run)] =
    progress.stepWithOutcome(s"${question.name}: $kind ${number + 1}") {
      Rounds.order(contestants, number).map { case (name, time) =>
        Settle()
        name -> time()
      }
    }(_.map { case (name, run) => f"$name ${run.seconds}%.2f" }.mkString("(", ", ", ")"))
}
