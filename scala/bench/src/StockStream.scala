package io.firesteel.bench

import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{AnalysisException, DataFrame, SparkSession}
import org.apache.spark.sql.streaming.Trigger

/** Stock Spark's response to a streaming query. */
sealed trait StockOutcome

object StockOutcome {

  /** @param condition the name of the error, with its sub-condition */
  final case class Refused(condition: String, message: String) extends StockOutcome

  /** @param only the one row of the answer */
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

/** Stock Spark with its defaults, and without its check of correctness, as its error recommends. */
final case class StockVerdict(asItComes: StockOutcome, unchecked: StockOutcome)

/** Runs the same query over the same stream in stock Spark. */
final class StockStream(spark: SparkSession) {

  private val check = "spark.sql.streaming.statefulOperator.checkCorrectness.enabled"

  /**
   * In complete mode the last batch is the whole answer. A query without aggregates has no such
   * mode.
   */
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

  /** The first line of the message, with the condition at its start. */
  private def said(error: AnalysisException): String =
    error.getMessage.linesIterator.next().stripPrefix(s"[${condition(error)}] ").stripSuffix(";")
}
