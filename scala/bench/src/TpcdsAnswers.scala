package io.firesteel.bench

import io.firesteel.core.decide.Explain
import io.firesteel.core.plans.PlanMetrics
import scala.util.control.NonFatal

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.types.StructType

private final case class Answered(schema: StructType, rows: Seq[Row], outcome: SideOutcome)

/**
 * Compares the answers of both sides, query by query.
 *
 * The texts are given, so an answer may be empty, unlike in a room's case. A wrong answer does not
 * end the run, because the other queries still tell something.
 */
final class TpcdsAnswers(spark: SparkSession) {

  def compare(query: String, stock: Contestant, firesteel: Contestant): QueryAnswer = {
    val both = for {
      theirs <- answered(stock)
      ours <- answered(firesteel)
    } yield {
      val (verdict, detail) = judge(theirs, ours, stock)
      QueryAnswer(query, verdict, detail, Some(theirs.outcome), Some(ours.outcome))
    }
    both.fold(error => QueryAnswer(query, Verdict.Failed, error, None, None), identity)
  }

  /** The answer, or the error, which appears on the page. */
  private def answered(contestant: Contestant): Either[String, Answered] =
    try Right(contestant.query(spark)(answer))
    catch {
      case NonFatal(error) =>
        // Spark wraps an operator's exception. The last cause is the exception itself.
        val chain = Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null).toSeq
        val causes = chain.map(cause => s"${cause.getClass.getSimpleName}: ${cause.getMessage}")
        val where = chain.last.getStackTrace.take(3).mkString(" < ")
        Left(s"${contestant.name}: ${causes.distinct.mkString("; ").linesIterator.mkString(" ")}; $where")
    }

  private def answer(query: DataFrame): Answered = {
    val rows = query.collect().toSeq
    val plan = executionOf(query).executedPlan
    val explained = Explain.of(plan)
    Answered(
      query.schema,
      rows,
      SideOutcome(
        rows.size.toLong,
        FinalPlan.shuffles(plan),
        PlanMetrics.of(plan).rowsShuffled,
        explained.fired.map(_.rule),
        explained.declined.map(_.why.code))
    )
  }

  private def judge(theirs: Answered, ours: Answered, stock: Contestant): (Verdict, String) = {
    val difference = RowBags.difference(theirs.rows, ours.rows)
    if (theirs.schema != ours.schema) {
      (Verdict.Different, s"the schema: ${theirs.schema.toDDL} and ${ours.schema.toDDL}")
    } else if (difference.isEmpty) (Verdict.Equal, "")
    else {
      val detail = difference.describe(Contestant.stock, Contestant.firesteel)
      val open = stock.query(spark)(TiedLimit.of(spark, _))
      if (open.exists(limit => limit.allows(theirs.rows) && limit.allows(ours.rows)) &&
        theirs.rows.size == ours.rows.size) (Verdict.EqualButForTies, detail)
      else (Verdict.Different, detail)
    }
  }
}
