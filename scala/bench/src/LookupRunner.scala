package io.firesteel.bench

import io.firesteel.core.plans.{AnswerDigest, PlanMetrics}
import org.apache.spark.sql.SparkSession

/**
 * Runs one case of the lookup room: checks that all contestants give the same rows, warms up, then
 * times them in turn.
 *
 * @param pairs rounds that count
 */
final class LookupRunner(
    spark: SparkSession,
    data: DataFolder,
    tasks: TaskLog,
    progress: Progress,
    pairs: Int) {

  private val clock = new Clock(spark, tasks)

  def run(question: LookupCase): LookupResult = {
    question.tables.foreach(data.register(spark, _))
    question.prepare(spark)
    val checked =
      (question.contestants ++ question.once).map(one => one.name -> answer(question, one))
    agree(question, checked.map { case (name, (answer, _)) => name -> answer })

    (0 until question.warmUps).foreach(round(question, "warm-up", _))
    val timed = (0 until pairs).flatMap(round(question, "round", _))
    val onlyOnce = checked.collect {
      case (name, (_, run)) if question.once.exists(_.name == name) => name -> run
    }
    LookupResult(question, Rounds((timed ++ onlyOnce).groupMap(_._1)(_._2)))
  }

  private def answer(question: LookupCase, contestant: Contestant): (AnswerDigest, Run) =
    progress.step(s"${question.name}: answer of ${contestant.name}") {
      contestant.query(spark) { query =>
        var answer = AnswerDigest(0, 0, 0)
        val run = tasks.time { answer = PlanMetrics.run(query, Nil).answer }
        (answer, run)
      }
    }

  /** A benchmark of wrong answers has no value, so the run ends. */
  private def agree(question: LookupCase, answers: Seq[(String, AnswerDigest)]): Unit = {
    val (name, first) = answers.head
    if (first.rows == 0) throw new WrongAnswer(s"${question.name}: the answer is empty")
    answers.tail.foreach { case (other, found) =>
      if (found != first) {
        throw new WrongAnswer(s"${question.name}: $name answers $first, $other $found")
      }
    }
  }

  private def round(question: LookupCase, kind: String, number: Int): Seq[(String, Run)] =
    progress.stepWithOutcome(s"${question.name}: $kind ${number + 1}") {
      Rounds.order(question.contestants, number).map(one => one.name -> clock.time(one))
    }(_.map { case (name, run) => f"$name ${run.seconds}%.2f" }.mkString("(", ", ", ")"))
}
