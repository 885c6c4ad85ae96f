package io.firesteel.extension

import io.firesteel.changelog.rules.ExplainStream
import io.firesteel.changelog.statements.StatementFiles
import io.firesteel.core.decide.Explain
import io.firesteel.core.plans.PlanMetrics
import java.util.Locale

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{Dataset, SparkSession}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.firesteel.{executionOf, lastBatchOf, outputModeOf}
import org.apache.spark.sql.firesteel.Files.hadoopConf
import org.apache.spark.sql.streaming.StreamingQuery
import org.json4s.JsonAST.{JArray, JField, JLong, JNull, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.{compact, render}

/** All functions that Python calls on the JVM. Results are JSON. */
object PythonApi {

  /** The version of this jar. */
  def version(): String = Version.firesteel

  /**
   * The decisions about a Dataset's plan: `{"fired": [..], "declined": [..], "plan": ".."}`. A
   * stream is explained as if it started in the output mode.
   */
  def explain(dataset: Dataset[_], outputMode: String): String = {
    val execution = executionOf(dataset)
    json(
      if (dataset.isStreaming) {
        ExplainStream(
          dataset.sparkSession,
          execution.analyzed,
          outputModeOf(outputMode))
      } else Explain.of(execution.executedPlan))
  }

  /** The same for a stream's last micro-batch; empty if there was none. */
  def explainStreaming(query: StreamingQuery): String =
    json(lastBatchOf(query).fold(Explain(Nil, Nil, ""))(batch => Explain.of(batch.executedPlan)))

  /**
   * Runs a Dataset to its end: `{"rows": .., "digest": "..", "rowsShuffled": .., "rowsSorted": ..,
   * "spilledBytes": ..}`, where `digest` covers `columns` and `rowsSorted` is null if unknown.
   */
  def measuredRun(dataset: Dataset[_], columns: java.util.List[String]): String =
    PlanMetrics.run(dataset, columns.asScala.toSeq).json

  /**
   * The counts of the lookup joins in a Dataset that has run:
   * `[{"values": {"table": "..", "shuffle": "..", ..}, "metrics": {"hits": .., ..}}]`. `hits`,
   * `misses`, `requests` and `failures` exist for connectors in every language.
   */
  def lookupMetrics(dataset: Dataset[_]): String =
    lookupMetrics(executionOf(dataset).executedPlan)

  /** The same for the last micro-batch of a streaming query; `[]` before the first one. */
  def lookupMetricsOfBatch(query: StreamingQuery): String =
    lastBatchOf(query).fold("[]")(batch => lookupMetrics(batch.executedPlan))

  /** The statements of a set that have written a micro-batch, as a list of their names. */
  def writtenStatements(session: SparkSession, checkpoint: String, batch: Long): String =
    compact(render(JArray(filesOf(session, checkpoint).written(batch).map(JString(_)).toList)))

  /** Notes that a statement of a set has written a micro-batch. */
  def noteStatement(session: SparkSession, checkpoint: String, batch: Long, name: String): Unit =
    filesOf(session, checkpoint).note(batch, name)

  private def filesOf(session: SparkSession, checkpoint: String) =
    new StatementFiles(checkpoint, hadoopConf(session, Map.empty))

  private def lookupMetrics(plan: SparkPlan): String = {
    val joins = PlanMetrics.ofFired(plan).collect {
      case (operator, counts) if operator.firedRule == "PlanLookupJoin" =>
        val metrics = counts.toList.sorted.map { case (name, count) =>
          JField(commonName(name), JLong(count))
        }
        JObject(values(operator.firedValues), "metrics" -> JObject(metrics))
    }
    compact(render(JArray(joins.toList)))
  }

  /** The JVM's operator says `lookupHits` and Python's says `hits`. */
  private def commonName(metric: String): String = {
    val bare = metric.stripPrefix("lookup")
    bare.take(1).toLowerCase(Locale.ROOT) + bare.drop(1)
  }

  private def json(explain: Explain): String = {
    val fired = explain.fired.map { f =>
      JObject("rule" -> JString(f.rule), "message" -> JString(f.message), values(f.values))
    }
    val declined = explain.declined.map { d =>
      JObject(
        "rule" -> JString(d.rule),
        "code" -> JString(d.why.code),
        "message" -> JString(d.why.message),
        values(d.why.values),
        "setting" -> d.why.setting.fold[JValue](JNull)(JString(_))
      )
    }
    compact(render(JObject(
      "fired" -> JArray(fired.toList),
      "declined" -> JArray(declined.toList),
      "plan" -> JString(explain.plan))))
  }

  private def values(of: Map[String, String]): JField =
    "values" -> JObject(of.toList.sorted.map { case (k, v) => JField(k, JString(v)) })
}
