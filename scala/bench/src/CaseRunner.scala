package io.firesteel.bench

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.types.{NumericType, StringType, TimestampType}

/** The result of a case. It exists only if both answers were equal. */
final case class CaseResult(question: Case, stock: Side, firesteel: Side, rounds: Rounds) {

  def speedUp: Sample = Measure.SpeedUp.of(rounds)

  def judged: Seq[(Target, Sample)] =
    question.targets.map(target => target -> target.measure.of(rounds))
}

/**
 * Runs one case: checks that both sides agree, warms up, then times all contestants in turn.
 *
 * @param pairs rounds that count; in each, every contestant runs once
 * @param firesteelOn false times stock against itself, which shows the machine's noise
 */
final class CaseRunner(
    spark: SparkSession,
    data: DataFolder,
    tasks: TaskLog,
    progress: Progress,
    pairs: Int,
    firesteelOn: Boolean) {

  private val warmUps = 2

  private val check = new AnswerCheck(spark, progress)

  private val clock = new Clock(spark, tasks)

  def run(question: Case): CaseResult = {
    data.register(spark, question.table)
    question.prepare(spark)
    val stock = Contestant.stockOf(question)
    val firesteel =
      Contestant.of(question, Contestant.firesteel, question.sql, enabled = firesteelOn)
    val references = question.references.map { reference =>
      Contestant.of(question, reference, enabled = reference.firesteel && firesteelOn) ->
        reference.sameAnswer
    }

    def checked(side: Contestant): Contestant =
      side.copy(sql = question.checked.getOrElse(side.sql))
    val (stockDid, firesteelDid) = check.agree(question, checked(stock), checked(firesteel))
    references.foreach { case (other, on) =>
      if (on.nonEmpty) check.agreeWith(question, stock, other, on)
    }

    val contestants = Seq(stock, firesteel) ++ references.map(_._1) ++ scans(question, stock)
    (0 until warmUps * question.repeat).foreach(round(question, contestants, "warm-up", _))
    val runs =
      (0 until pairs * question.repeat).flatMap(round(question, contestants, "round", _))
    val byName = runs.groupMap { case (name, _) => name } { case (_, run) => run }
    CaseResult(question, stockDid, firesteelDid, Rounds(byName))
  }

  private def round(
      question: Case,
      contestants: Seq[Contestant],
      kind: String,
      number: Int): Seq[(String, Run)] =
    progress.stepWithOutcome(s"${question.name}: $kind ${number + 1}") {
      Rounds.order(contestants, number).map(contestant => contestant.name -> clock.time(contestant))
    }(_.map { case (name, run) => f"$name ${run.seconds}%.2f" }.mkString("(", ", ", ")"))

  /** The minimum of any plan: pass on the rows of the query, or sum them. */
  private def scans(question: Case, stock: Contestant): Seq[Contestant] = {
    val (table, columns) = (question.table.name, columnsRead(question, stock))
    def scan(name: String, select: Seq[String]): Contestant =
      Contestant.of(question, name, s"SELECT ${select.mkString(", ")} FROM $table", enabled = false)

    Seq(
      scan(Contestant.scan, columns),
      scan(Contestant.scanAndSum, columns.map(sumOf(table, _))))
  }

  /**
   * The columns that stock's scan reads after pruning. If Spark reads its tables only in
   * subqueries: those that the query names.
   */
  private def columnsRead(question: Case, stock: Contestant): Seq[String] = {
    val read = stock.query(spark) { query =>
      executionOf(query).sparkPlan.collectLeaves().flatMap(_.output.map(_.name)).distinct
    }
    val named = question.table.columns.map(_._1).filter { column =>
      s"\\b$column\\b".r.findFirstIn(question.sql).nonEmpty
    }
    if (read.isEmpty) named else read
  }

  private def sumOf(table: String, column: String): String =
    spark.table(table).schema(column).dataType match {
      case _: NumericType => s"sum(CAST($column AS DOUBLE))" // as doubles, which do not overflow
      case _: StringType => s"sum(length($column))"
      case _: TimestampType => s"sum(CAST($column AS DOUBLE))"
      case _ => s"count($column)"
    }
}
