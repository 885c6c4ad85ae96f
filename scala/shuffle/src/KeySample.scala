package io.firesteel.shuffle

import io.firesteel.core.SourceSample
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec

/** Counts keys in a sample of the source that a plan reads. */
private[shuffle] final class KeySample(session: SparkSession) {
  import KeySample._

  /** What the sample shows, or why there is none. */
  def of(
      shuffled: SparkPlan,
      by: Seq[Expression],
      keys: Seq[Expression]): Either[String, KeyFacts] =
    for {
      source <- sourceOf(shuffled)
      columns = Seq(keys, by).map(computed(shuffled, _))
      rows <- SourceSample.of(session).hashes(source, columns)
      facts <- counted(rows)
    } yield facts

  private def counted(rows: Seq[Seq[Long]]): Either[String, KeyFacts] = {
    val different = rows.distinct
    if (different.size < fewest) Left(s"a sample found ${different.size} different rows")
    else {
      val ofOne = different.groupBy(_.head).values.map(_.size)
      Right(KeyFacts(
        ofOne.size,
        Some(ofOne.max.toDouble / different.size),
        s"a sample with ${different.size} different rows"))
    }
  }
}

private[shuffle] object KeySample {

  /** Different rows that a sample must have to say anything. */
  val fewest = 1000

  /** What is below the partial aggregate that a shuffle's input may be. */
  private def sourceOf(shuffled: SparkPlan): Either[String, LogicalPlan] =
    shuffled.logicalLink match {
      case Some(aggregate: Aggregate) => Right(aggregate.child)
      case Some(other) if !shuffled.isInstanceOf[BaseAggregateExec] => Right(other)
      case _ => Left("it is computed")
    }

  /** Keys of the shuffle's input in terms of what is below its partial aggregate. */
  private def computed(
      shuffled: SparkPlan,
      keys: Seq[Expression]): Seq[Expression] = {
    val grouping: Seq[NamedExpression] = shuffled match {
      case aggregate: BaseAggregateExec => aggregate.groupingExpressions
      case _ => Nil
    }
    val meaning = grouping.collect { case alias: Alias => alias.toAttribute -> alias.child }
    keys.map(_.transform {
      case attribute =>
        meaning.collectFirst { case (name, child) if name.semanticEquals(attribute) => child }
          .getOrElse(attribute)
    })
  }
}
