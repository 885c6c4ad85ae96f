package io.firesteel.changelog.plan

import io.firesteel.changelog.common.ChangelogConf
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, Coalesce, EvalMode, Expression, Literal, Murmur3Hash, NamedExpression, Pmod}
import org.apache.spark.sql.catalyst.expressions.aggregate.{Count, Max, Min, Sum}
import org.apache.spark.sql.firesteel.evalModeOf
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DecimalType, LongType, MetadataBuilder}

/**
 * Spreads the distinct values of a group over several tasks. One aggregate groups by the keys and a
 * bucket of the value, a second one adds up its results by the keys (Flink:
 * `table.optimizer.distinct-agg.split.enabled`).
 *
 * {{{
 *   Aggregate [k], [count(DISTINCT v), sum(w)]
 *     =>  Aggregate [k], [sum(c), sum(s)]
 *         +- Aggregate [k, hash(v) % 32], [count(DISTINCT v) AS c, sum(w) AS s]
 * }}}
 */
private[changelog] object SplitDistinct extends Logging {

  private val metadataKey = "firesteel.buckets"

  /**
   * The number of buckets, if the column has it. Another number would put values into other
   * buckets.
   */
  def bucketsOf(column: Attribute): Option[Long] =
    if (column.metadata.contains(metadataKey)) Some(column.metadata.getLong(metadataKey)) else None

  /** The aggregate as two, or unchanged. */
  def apply(aggregate: GroupAggregate): ChangelogOperator = {
    val buckets = SQLConf.get.getConf(ChangelogConf.DISTINCT_BUCKETS)
    if (buckets == 0 || !aggregate.distinct.contains(true)) aggregate
    else objection(aggregate) match {
      case Some(why) =>
        logWarning(s"${ChangelogConf.DISTINCT_BUCKETS.key} has no effect on an aggregate: $why.")
        aggregate
      case None => split(aggregate, buckets)
    }
  }

  private def objection(aggregate: GroupAggregate): Option[String] = {
    val sets = distinctColumns(aggregate)
    val other = aggregate.functions.find {
      case _: Count | _: Min | _: Max => false
      case sum: Sum => mayOverflowInParts(sum)
      case _ => true
    }
    if (aggregate.closedBy.nonEmpty) Some("the watermark closes its sessions as a whole")
    else if (sets.size > 1)
      Some(s"its DISTINCT values have different columns: ${sets.mkString(", ")}")
    else other.map(function => s"${function.sql} cannot be computed from the results of parts")
  }

  /** If an overflow is an error or null, a part may overflow although the whole sum does not. */
  private def mayOverflowInParts(sum: Sum): Boolean = sum.child.dataType match {
    case _: DecimalType => true
    case LongType => evalModeOf(sum) != EvalMode.LEGACY
    case _ => false
  }

  private def distinctColumns(aggregate: GroupAggregate): Seq[Seq[Expression]] =
    aggregate.functions.zip(aggregate.distinct).collect { case (function, true) =>
      function.children
    }.distinct

  private def split(aggregate: GroupAggregate, buckets: Int): ChangelogOperator = {
    val bucket =
      Alias(Pmod(Murmur3Hash(distinctColumns(aggregate).head, 42), Literal(buckets)), "bucket")(
        explicitMetadata = Some(new MetadataBuilder().putLong(metadataKey, buckets.toLong).build()))
    val parts = aggregate.results.map(r => AttributeReference(r.name, r.dataType, r.nullable)())
    val below = aggregate.copy(
      keys = aggregate.keys :+ bucket.toAttribute,
      results = parts,
      input = Projection(aggregate.input.output :+ bucket, aggregate.input))
    val functions = aggregate.functions.zip(parts).map { case (function, part) =>
      whole(function, part)
    }
    val wholes = functions.zip(parts).map { case (f, part) =>
      AttributeReference(part.name, f.dataType, nullable = true)()
    }
    val above = aggregate.copy(
      functions = functions,
      distinct = functions.map(_ => false),
      results = wholes,
      input = below)
    Projection(aggregate.keys ++ named(aggregate, wholes), above)
  }

  /** The function over the results of the parts. */
  private def whole(function: Expression, part: Attribute): Expression = function match {
    case _: Count => Sum(part)
    case sum: Sum => sum.copy(child = part)
    case min: Min => min.copy(child = part)
    case max: Max => max.copy(child = part)
    case other => throw new IllegalStateException(s"no parts of $other")
  }

  /** The results under their own ids. A count of no rows is 0, a sum of no counts is null. */
  private def named(aggregate: GroupAggregate, wholes: Seq[Attribute]): Seq[NamedExpression] =
    aggregate.results.zip(aggregate.functions).zip(wholes).map { case ((result, function), whole) =>
      val value = function match {
        case _: Count => Coalesce(Seq(whole, Literal(0L)))
        case _ => whole
      }
      Alias(value, result.name)(result.exprId)
    }
}
