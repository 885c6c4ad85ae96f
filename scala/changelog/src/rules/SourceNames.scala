package io.firesteel.changelog.rules

import io.firesteel.changelog.common.Digest

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.firesteel.streaming.StreamingRelation
import org.apache.spark.sql.types.StructType

/**
 * The sources of a query in the order in which Spark numbers them, each as a text that is the same at
 * each start. Options that say what is read are in a digest, and no others: a password is none.
 */
private[rules] object SourceNames {

  private val places =
    Seq("path", "subscribe", "subscribepattern", "assign", "topic", "dbtable", "host", "port")

  def of(plan: LogicalPlan): Seq[String] = relations(plan).map {
    case source: StreamingRelation =>
      text(source.sourceName, source.dataSource.options, source.schema)
    case source: StreamingRelationV2 =>
      val options = source.extraOptions
      val named = places.filter(options.containsKey).map(key => key -> options.get(key)).toMap
      text(source.sourceName, named, source.schema)
    case other => other.nodeName
  }

  /** The sources in the order of their numbers. Spark counts from the top down. */
  def relations(plan: LogicalPlan): Seq[LogicalPlan] = plan.collect {
    case source @ (_: StreamingRelation | _: StreamingRelationV2) => source
  }.distinct

  def nameOf(relation: LogicalPlan): String = relation match {
    case source: StreamingRelation => source.sourceName
    case source: StreamingRelationV2 => source.sourceName
    case other => other.nodeName
  }

  private def text(name: String, options: Map[String, String], schema: StructType): String = {
    val lower = options.map { case (key, value) => key.toLowerCase -> value }
    val said = places.flatMap(key => lower.get(key).map(value => s"$key=${value.stripSuffix("/")}"))
    s"$name ${Digest.of((said :+ schema.json).mkString("\n"))}"
  }
}
