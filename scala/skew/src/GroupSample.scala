package io.firesteel.skew

import io.firesteel.core.SourceSample
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * What is known of the groups of an aggregate.
 *
 * @param largestShare share of the rows that the largest group has, from 0 to 1, as far as is known
 */
private[skew] final case class GroupFacts(groups: BigInt, largestShare: Double)

/**
 * Groups in a sample of the source. Rows that are sorted by the keys show fewer groups than there are,
 * but then each of them is large.
 */
private[skew] object GroupSample {

  /** Rows that a sample must have to say anything. */
  private val fewest = 1000

  def of(grouping: Seq[Expression], child: LogicalPlan): Either[String, GroupFacts] = {
    val keys = grouping.map {
      case Alias(key, _) => key
      case key => key
    }
    for {
      session <- SparkSession.getActiveSession.toRight("there is no session")
      rows <- SourceSample.of(session).hashes(child, Seq(keys))
      _ <- if (rows.size >= fewest) Right(()) else Left(s"a sample found ${rows.size} rows")
    } yield {
      val sizes = rows.groupBy(_.head).values.map(_.size)
      GroupFacts(sizes.size, sizes.max.toDouble / rows.size)
    }
  }
}
