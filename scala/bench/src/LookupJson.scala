package io.firesteel.bench

import io.firesteel.bench.JsonPage.sample

import org.json4s.{JArray, JBool, JDouble, JLong, JNull, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.{pretty, render}

/** The same for programs: every timed run and its result. */
object LookupJson {

  def of(results: Seq[LookupResult], machine: Environment): String = pretty(render(JObject(
    "room" -> JString(LookupMain.room),
    "noise" -> JBool(false),
    "environment" -> JObject(machine.facts.toList.map { case (name, value) =>
      name -> JString(value)
    }),
    "cases" -> JArray(results.toList.map(one))
  ))) + "\n"

  private def one(result: LookupResult): JValue = JObject(
    "name" -> JString(result.question.name),
    "title" -> JString(result.question.title),
    "rows" -> JLong(result.question.rows),
    "ratio" -> result.speedUp.fold[JValue](JNull) { case (label, _) => JString(label) },
    "speedUp" -> result.speedUp.fold[JValue](JNull) { case (_, ratio) => sample(ratio) },
    "targets" -> JArray(result.judged.toList.map { case (target, measured) =>
      JObject(
        "measure" -> JString(target.measure.label),
        "bound" -> JString(target.bound.label),
        "value" -> JDouble(target.bound.value),
        "measured" -> sample(measured),
        "met" -> JBool(target.bound.missedBy(measured.median).isEmpty)
      )
    }),
    "runs" -> JObject(result.byContestant.toList.map { case (name, runs) =>
      name -> JArray(runs.toList.map(run))
    })
  )

  private def run(run: Run): JValue = JObject(
    "seconds" -> JDouble(run.seconds),
    "roundTrips" -> JLong(run.total(LookupMeasure.requests)),
    "hits" -> JLong(run.total(LookupMeasure.hits)),
    "misses" -> JLong(run.total(LookupMeasure.misses)),
    "mostBytesReadByTask" -> JLong(run.most(LookupMeasure.bytesRead)),
    "mostRowsLoadedByTask" -> JLong(run.most(LookupMeasure.rowsLoaded)),
    "peakMemoryBytesOfTask" -> JLong(run.peakMemoryBytes)
  )
}
