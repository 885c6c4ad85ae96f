package io.firesteel.bench

import io.firesteel.bench.JsonPage.sample

import org.json4s.{JArray, JBool, JDouble, JInt, JLong, JNull, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.{pretty, render}

/** The results of TPC-DS for programs: every timed run and its result. */
object TpcdsJson {

  def of(results: TpcdsResults): String = pretty(render(JObject(
    "suite" -> JString(TpcdsMain.suite),
    "scale" -> JDouble(results.scale),
    "settings" -> texts(results.settings.toSeq.sorted),
    "noise" -> JBool(results.noise),
    "environment" -> texts(results.environment.facts),
    "queries" -> JArray(results.results.toList.map(one))
  ))) + "\n"

  private def one(result: TpcdsResult): JValue = JObject(
    "name" -> JString(result.query),
    "verdict" -> JString(result.answer.verdict.name),
    "detail" -> JString(result.answer.detail),
    "stock" -> result.answer.stock.fold[JValue](JNull)(side),
    "firesteel" -> result.answer.firesteel.fold[JValue](JNull)(side),
    "speedUp" -> result.speedUp.fold[JValue](JNull)(sample),
    "times" -> result.times.fold[JValue](JNull)(clocked)
  )

  private def side(side: SideOutcome): JValue = JObject(
    "rows" -> JLong(side.rows),
    "shuffles" -> JInt(side.shuffles),
    "rowsShuffled" -> JLong(side.rowsShuffled),
    "fired" -> JArray(side.fired.toList.map(JString(_))),
    "declined" -> JArray(side.declined.toList.map(JString(_)))
  )

  private def clocked(times: QueryTimes): JValue = JObject(
    "stockSeconds" -> JArray(times.stockSeconds.toList.map(JDouble(_))),
    "firesteelSeconds" -> JArray(times.firesteelSeconds.toList.map(JDouble(_))),
    "stockShuffledBytes" -> JArray(times.stockBytes.toList.map(JLong(_))),
    "firesteelShuffledBytes" -> JArray(times.firesteelBytes.toList.map(JLong(_))),
    "firstLook" -> times.firstLook.fold[JValue](JNull)(JDouble(_))
  )

  private def texts(pairs: Seq[(String, String)]): JValue =
    JObject(pairs.toList.map { case (name, value) => name -> JString(value) })
}
