package io.firesteel.bench

import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{AnalysisException, DataFrame, SparkSession}
import org.apache.spark.sql.streaming.Trigger

/** What stock Spark says to a streaming query. */
sealed trait StockOutcome

object StockOutcome {

  /** @param condition the name of the error, and of what is under it */
  final case class Refused(condition: String, message: String) extends StockOutcome

  /** @param only the row of an answer that has no other */
  final case class Answered(answer: Checksum, only: Option[String]) extends StockOutcome

  def answered(rows: DataFrame, question: StreamingCase): Answered = {
    rows.createOrReplaceTempView("stock_answer")
    val sum = rows.sparkSession.sql(Checksum.of(question.answer, "stock_answer"))
    val found = Checksum.read(sum.head())
    val row = Option.when(found.rows == 1)(rows.head())
    Answered(
      found,
      row.map(r => question.answer.zip(r.toSeq).map { case (c, v) => s"$c = $v" }.mkString(", ")))
  }
}

/** Stock Spark as it comes, and with its check of correctness off, as its error message recommends. */
final case class StockVerdict(asItComes: StockOutcome, unchecked: StockOutcome)

/** Asks stock Spark the same question of the same stream. */
final class StockStream(spark: SparkSession) {

  private val check = "spark.sql.streaming.statefulOperator.checkCorrectness.enabled"

  /** Complete mode, whose last batch is the whole answer; a query without aggregates has none. */
  def verdict(question: StreamingCase): StockVerdict = {
    val mode = if (question.sql.contains("GROUP BY")) "complete" else "append"
    StockVerdict(
      asItComes = within(checked = true)(outcome(question, mode)),
      unchecked = within(checked = false)(outcome(question, mode)))
  }

  private def within[A](checked: Boolean)(body: => A): A =
    Contestant(
      Contestant.stock,
      "",
      Map("spark.firesteel.enabled" -> "false", check -> checked.toString)).within(spark)(body)

  private def outcome(question: StreamingCase, mode: String): StockOutcome = {
    val last = new AtomicReference(StockOutcome.Answered(Checksum.none, None))
    try {
      spark
        .sql(question.sql)
        .writeStream
        .outputMode(mode)
        .trigger(Trigger.AvailableNow)
        .foreachBatch { (batch: DataFrame, _: Long) =>
          batch.persist() // read twice; a stream's state is not
          last.set(StockOutcome.answered(batch, question))
          val _ = batch.unpersist()
        }
        .start()
        .awaitTermination()
      last.get
    } catch {
      case refused: AnalysisException =>
        StockOutcome.Refused(condition(refused), said(refused))
    }
  }

  private def condition(error: SparkThrowable): String =
    Option(error.getCondition).getOrElse("without a condition")

  /** The first line of the message, which begins with the condition. */
  private def said(error: AnalysisException): String =
    error.getMessage.linesIterator.next().stripPrefix(s"[${condition(error)}] ").stripSuffix(";")
}
