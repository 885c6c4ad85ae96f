package io.firesteel.bench

import io.firesteel.bench.JsonPage.sample

import org.json4s.{JArray, JDouble, JInt, JLong, JNull, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.{pretty, render}

/** The results of a suite for programs: every timed run and both plans. */
object SuiteJson {

  def of(results: SuiteResults): String = pretty(render(JObject(
    "suite" -> JString(results.suite),
    "size" -> JString(results.size),
    "environment" -> JObject(results.environment.facts.toList.map { case (name, value) =>
      name -> JString(value)
    }),
    "cases" -> JArray(results.results.toList.map(one))
  ))) + "\n"

  private def one(result: SuiteResult): JValue = JObject(
    "name" -> JString(result.query),
    "mode" -> JString(result.mode),
    "rows" -> JLong(result.rows),
    "microBatches" -> JInt(result.batches),
    "speedUp" -> result.speedUp.fold[JValue](JNull)(sample),
    "seconds" -> JObject(result.rounds.runs.toList.sortBy(_._1).map { case (name, runs) =>
      name -> JArray(runs.toList.map(run => JDouble(run.seconds)))
    }),
    "operators" -> JArray(result.operators.toList.map(JString(_))),
    "flinkRefused" -> result.flink.fold(JString(_), _ => JNull),
    "flinkPlan" -> result.flink.fold(_ => JNull, plan => JString(FlinkNote.physical(plan)))
  )
}
