package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.common.Digest

import java.util.Locale

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.firesteel.streaming.StreamingRelation
import org.apache.spark.sql.types.StructType

/**
 * The places of a query's sources, each as a text that is the same at each start. Spark's log of
 * offsets has an entry for each place, also where several read one source. Options that say what is
 * read are in a digest, and no others: a password is none.
 */
private[changelog] object SourceNames {

  private val options = Seq(
    "path",
    "kafka.bootstrap.servers",
    "subscribe",
    "subscribepattern",
    "assign",
    "topic",
    "dbtable",
    "host",
    "port")

  /** The names of the sources, by their places. Two sources have two names. */
  def of(plan: LogicalPlan): Seq[String] = {
    val all = relations(plan)
    val texts = all.distinct.map(text)
    val names = texts.indices.map { i =>
      val before = texts.take(i).count(_ == texts(i))
      if (before == 0) texts(i) else s"${texts(i)}$again$before"
    }
    all.map(relation => names(all.distinct.indexOf(relation)))
  }

  /** The sources by their places. Spark counts from the top down. */
  def relations(plan: LogicalPlan): Seq[LogicalPlan] = plan.collect {
    case source @ (_: StreamingRelation | _: StreamingRelationV2) => source
  }

  def nameOf(relation: LogicalPlan): String = relation match {
    case source: StreamingRelation => source.sourceName
    case source: StreamingRelationV2 => source.sourceName
    case other => other.nodeName
  }

  /** Whether names are of several sources whose texts are equal: their order alone tells them apart. */
  def areAlike(names: Seq[String]): Boolean = names.exists(_.contains(again))

  /** What a source reads. */
  def text(relation: LogicalPlan): String = relation match {
    case source: StreamingRelation =>
      val its = source.dataSource
      val table = its.catalogTable.map(_.identifier.unquotedString)
      text(its.className, its.options, table, source.schema)
    case source: StreamingRelationV2 =>
      val said = options.filter(source.extraOptions.containsKey)
        .map(key => key -> source.extraOptions.get(key))
      val table = source.catalog.map(_.name) ++ source.identifier.map(_.toString)
      text(source.sourceName, said.toMap, table, source.schema)
    case other => other.nodeName
  }

  private val again = " #"

  private def text(
      name: String,
      all: Map[String, String],
      table: Iterable[String],
      schema: StructType): String = {
    val lower = all.map { case (key, value) => key.toLowerCase(Locale.ROOT) -> value }
    val said =
      options.flatMap(key => lower.get(key).map(value => s"$key=${value.stripSuffix("/")}"))
    s"$name ${Digest.of((said ++ table :+ schema.json).mkString("\n"))}"
  }
}
