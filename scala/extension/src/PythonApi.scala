package io.firesteel.extension

import io.firesteel.changelog.rules.ExplainStream
import io.firesteel.core.decide.Explain
import io.firesteel.core.plans.PlanMetrics
import java.util.Locale

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.Dataset
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.firesteel.{executionOf, lastBatchOf, outputModeOf}
import org.apache.spark.sql.streaming.StreamingQuery
import org.json4s.JsonAST.{JArray, JField, JLong, JNull, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.{compact, render}

/** Everything that Python calls on the JVM, once; answers are JSON. */
object PythonApi {

  /** The version of this jar. */
  def version(): String = Version.firesteel

  /**
   * What firesteel did to a Dataset's plan: `{"fired": [..], "declined": [..], "plan": ".."}`; of a
   * stream, what it would do were it started in an output mode.
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

  /** The same of a stream's last micro-batch; nothing at all when there has been none. */
  def explainStreaming(query: StreamingQuery): String =
    json(lastBatchOf(query).fold(Explain(Nil, Nil, ""))(batch => Explain.of(batch.executedPlan)))

  /**
   * Runs a Dataset to its end: `{"rows": .., "digest": "..", "rowsShuffled": .., "rowsSorted": ..,
   * "spilledBytes": ..}`, where `digest` is of `columns` and `rowsSorted` is null when unknown.
   */
  def measuredRun(dataset: Dataset[_], columns: java.util.List[String]): String =
    PlanMetrics.run(dataset, columns.asScala.toSeq).json

  /**
   * The counts of the lookup joins of a Dataset that has run:
   * `[{"values": {"table": "..", "shuffle": "..", ..}, "metrics": {"hits": .., ..}}]`. `hits`,
   * `misses`, `requests` and `failures` are there whatever the connector is written in.
   */
  def lookupMetrics(dataset: Dataset[_]): String =
    lookupMetrics(executionOf(dataset).executedPlan)

  /** The same for the last micro-batch of a streaming query; `[]` before the first one. */
  def lookupMetricsOfBatch(query: StreamingQuery): String =
    lastBatchOf(query).fold("[]")(batch => lookupMetrics(batch.executedPlan))

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

  /** `lookupHits` of the JVM's operator is `hits` of Python's. */
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
