package io.firesteel.bench

import java.nio.file.Path

import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.SparkSession

/** Runs queries of a suite over streams, in turn with Flink. */
final class SuiteRunner(
    spark: SparkSession,
    flink: FlinkProcess,
    scratch: Path,
    progress: Progress,
    pairs: Int) {

  private val ours = new OurStream(spark, new TaskLog(spark.sparkContext), scratch)

  def run(query: SuiteQuery): SuiteResult = {
    query.tables()
    val truth = Contestant("", "", Map("spark.firesteel.enabled" -> "false")).within(spark) {
      Checksum.read(
        spark.sql(Checksum.of(query.answer, s"(${query.compared}) AS answers")).head())
    }
    query.streams()
    val once = progress.step(s"${query.name}: answer of firesteel")(
      ours.answer(query.compared, query.answer))
    agree(query, truth, StreamingContestant.firesteel, once.answer)
    val theirs = progress.step(s"${query.name}: answer of Flink")(plan(query, truth))
    SuiteResult(
      query.name,
      query.mode,
      truth.rows,
      once.batches,
      rounds(query, theirs.isRight),
      once.operators,
      theirs)
  }

  /** Flink's plan, once its answer is right, or why it refuses the query. */
  private def plan(query: SuiteQuery, truth: Checksum): Either[String, String] =
    Try((flink.plan(query.timed), query.sum.map(flink.checksum))) match {
      case Failure(refused) => Left(SuiteRunner.reason(refused))
      case Success((plan, answer)) =>
        answer.foreach(agree(query, truth, StreamingContestant.flink, _))
        Right(plan)
    }

  private def rounds(query: SuiteQuery, flinkToo: Boolean): Rounds = {
    val contestants =
      (StreamingContestant.firesteel -> (() => ours.time(query.sql, query.mode))) +:
        Option.when(flinkToo)(
          StreamingContestant.flink -> (() => flink.time(query.timed))).toSeq
    def round(what: String)(i: Int) =
      progress.stepWithOutcome(s"${query.name}: $what $i") {
        Rounds.order(contestants, i).map { case (name, timed) =>
          Settle()
          name -> timed()
        }
      }(_.map { case (name, run) => f"$name ${run.seconds}%.2f" }.mkString("(", ", ", ")"))
    val _ = WarmUp.until(round("warm-up"), WarmUp.secondsOfSuite)
    Rounds((1 to pairs).flatMap(round("round")).groupMap(_._1)(_._2))
  }

  private def agree(query: SuiteQuery, truth: Checksum, who: String, found: Checksum): Unit =
    if (found != truth) {
      throw new WrongAnswer(s"${query.name}: the batch query answers $truth, $who $found")
    }
}

private object SuiteRunner {

  /** What an error says first, without the names of calls and classes around it. */
  def reason(error: Throwable): String = {
    val lines = Option(error.getMessage).getOrElse(error.toString).linesIterator
      .map(_.trim).filter(_.nonEmpty).toSeq
    lines.find(_.contains("Exception: ")).map(_.replaceFirst("^.*?Exception: ", ""))
      .orElse(lines.headOption).getOrElse("")
  }
}
