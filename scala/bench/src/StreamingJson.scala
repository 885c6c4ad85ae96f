package io.firesteel.bench

import io.firesteel.bench.JsonPage.sample

import org.json4s.{JArray, JBool, JDouble, JInt, JLong, JNull, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.{pretty, render}

/** The same for programs: every timed run and its result. */
object StreamingJson {

  def of(results: StreamingResults): String = pretty(render(JObject(
    "room" -> JString(StreamingMain.suite),
    "noise" -> JBool(false),
    "environment" -> JObject(results.environment.facts.toList.map { case (name, value) =>
      name -> JString(value)
    }),
    "format" -> JString(results.format),
    "cases" -> JArray(results.cases.toList.map(one)),
    "smallBatches" -> JArray(results.smallBatches.toList.map(small)),
    "manyKeys" -> results.manyKeys.fold[JValue](JNull)(
      _.fold[JValue](JString("did not complete"))(many))
  ))) + "\n"

  private def one(result: StreamingResult): JValue = JObject(
    "name" -> JString(result.question.name),
    "title" -> JString(result.question.title),
    "rows" -> JLong(result.question.table.rows),
    "ratio" -> JString(StreamingMeasure.label),
    "speedUp" -> sample(result.speedUp),
    "targets" -> JArray(result.target.toList.map { target =>
      JObject(
        "measure" -> JString(target.measure.label),
        "bound" -> JString(target.bound.label),
        "value" -> JDouble(target.bound.value),
        "measured" -> sample(result.speedUp),
        "met" -> JBool(target.bound.missedBy(result.speedUp.median).isEmpty)
      )
    }),
    "seconds" -> everyone(result.rounds),
    "warmUpSeconds" -> everyone(result.warmUps),
    "answer" -> JString(outcome(result.truth)),
    "stock" -> JString(outcome(result.stock.asItComes)),
    "stockUnchecked" -> JString(outcome(result.stock.unchecked)),
    "microBatches" -> JInt(result.batches),
    "stateRows" -> JLong(result.state.rows),
    "operators" -> JArray(result.operators.toList.map(JString(_))),
    "flinkPlan" -> JString(FlinkNote.physical(result.flinkPlan))
  )

  private def everyone(rounds: Rounds): JValue =
    JObject(rounds.runs.toList.sortBy(_._1).map { case (name, runs) =>
      name -> JArray(runs.toList.map(run => JDouble(run.seconds)))
    })

  private def outcome(outcome: StockOutcome): String = outcome match {
    case StockOutcome.Refused(condition, message) => s"refused: $condition $message"
    case StockOutcome.Answered(answer, only) => (answer.toString +: only.toSeq).mkString(": ")
  }

  private def small(outcome: SmallBatchesOutcome): JValue = JObject(
    "provider" -> JString(outcome.provider),
    "operators" -> JInt(outcome.operators),
    "partitions" -> JInt(outcome.partitions),
    "stateRows" -> JLong(outcome.stateRows),
    "seconds" -> JArray(outcome.seconds.toList.map(JDouble(_))),
    "met" -> JBool(SmallBatches.target.missedBy(outcome.sample.median).isEmpty)
  )

  private def many(outcome: ManyKeysOutcome): JValue = JObject(
    "heapMiB" -> JLong(outcome.heapMiB),
    "fewKeys" -> JLong(outcome.fewKeys),
    "manyKeys" -> JLong(outcome.manyKeys),
    "rowsPerBatch" -> JLong(outcome.rowsPerBatch),
    "secondsAtFew" -> JArray(outcome.atFew.toList.map(JDouble(_))),
    "secondsAtMany" -> JArray(outcome.atMany.toList.map(JDouble(_))),
    "slowdown" -> sample(outcome.slowdown),
    "met" -> JBool(ManyKeys.target.missedBy(outcome.slowdown.median).isEmpty)
  )
}
