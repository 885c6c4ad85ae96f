package io.firesteel.bench

import io.firesteel.core.decide.Explain
import io.firesteel.core.plans.{AnswerDigest, MeasuredRun, PlanMetrics}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.functions.col

/** One run of one side, outside the clock. */
final case class Side(run: MeasuredRun, fired: Seq[String], declined: Seq[String])

/** A benchmark of wrong answers has no value, so the run ends. */
final class WrongAnswer(message: String) extends RuntimeException(message)

/** Checks that two sides give equal bags of rows, for answers of any size. */
final class AnswerCheck(spark: SparkSession, progress: Progress) {

  /** Runs both sides, and returns both runs if they agree. */
  def agree(question: Case, stock: Contestant, firesteel: Contestant): (Side, Side) = {
    val (theirs, ours) = (answered(question, stock), answered(question, firesteel))
    if (theirs.run.answer.rows == 0) {
      throw new WrongAnswer(s"${question.name}: the answer is empty, so equality shows nothing")
    }
    if (theirs.run.answer != ours.run.answer) {
      throw new WrongAnswer(
        s"${question.name}: stock answers ${theirs.run.answer}, firesteel ${ours.run.answer}\n" +
          difference(question.compared, stock, firesteel))
    }
    (theirs, ours)
  }

  /** Checks that a reference query gives stock's answer. */
  def agreeWith(question: Case, stock: Contestant, reference: Contestant, on: Seq[String]): Unit = {
    def answer(contestant: Contestant): AnswerDigest =
      contestant.query(spark)(PlanMetrics.run(_, on).answer)

    val (expected, found) = progress.step(s"${question.name}: answer of ${reference.name}") {
      (answer(stock), answer(reference))
    }
    if (expected != found) {
      throw new WrongAnswer(
        s"${question.name}: stock answers $expected, ${reference.name} $found\n" +
          difference(on, stock, reference))
    }
  }

  private def answered(question: Case, contestant: Contestant): Side =
    progress.step(s"${question.name}: answer of ${contestant.name}") {
      contestant.query(spark) { query =>
        val run = PlanMetrics.run(query, question.compared)
        val explained = Explain.of(executionOf(query).executedPlan)
        Side(run, explained.fired.map(_.rule), explained.declined.map(_.why.code))
      }
    }

  /** A few rows that only one side has, for the error's message. */
  private def difference(columns: Seq[String], one: Contestant, other: Contestant): String = {
    // All columns are kept before some are chosen: a plan that reads less might hide the fault.
    def kept(side: Contestant): DataFrame =
      side.query(spark)(_.localCheckpoint()).select(columns.map(col): _*)

    val (a, b) = (kept(one), kept(other))
    Seq(one.name -> a.exceptAll(b), other.name -> b.exceptAll(a))
      .map { case (name, rows) => s"$name alone: ${rows.limit(5).collect().mkString(" ")}" }
      .mkString("\n")
  }
}
