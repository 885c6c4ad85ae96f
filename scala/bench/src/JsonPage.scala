package io.firesteel.bench

import org.json4s.{JArray, JBool, JDouble, JLong, JNull, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.{pretty, render}

/** The same results for programs: every timed run and its result. */
object JsonPage {

  def of(results: Results): String = pretty(render(JObject(
    "room" -> JString(results.room.name),
    "noise" -> JBool(results.noise),
    "environment" -> JObject(results.environment.facts.toList.map { case (name, value) =>
      name -> JString(value)
    }),
    "cases" -> JArray(results.cases.toList.map(one)),
    "memory" -> memory(results.memory)
  ))) + "\n"

  private def one(result: CaseResult): JValue = JObject(
    "name" -> JString(result.question.name),
    "title" -> JString(result.question.title),
    "rows" -> JLong(result.question.table.rows),
    "sizeOverSlide" -> result.question.sizeOverSlide.fold[JValue](JNull)(n => JLong(n.toLong)),
    "speedUp" -> sample(result.speedUp),
    "targets" -> JArray(result.judged.toList.map { case (target, measured) =>
      JObject(
        "measure" -> JString(target.measure.label),
        "bound" -> JString(target.bound.label),
        "value" -> JDouble(target.bound.value),
        "measured" -> sample(measured),
        "met" -> JBool(target.bound.missedBy(measured.median).isEmpty)
      )
    }),
    "seconds" -> JObject(result.rounds.runs.toList.sortBy(_._1).map { case (name, runs) =>
      name -> JArray(runs.toList.map(run => JDouble(run.seconds)))
    }),
    "shuffledBytes" -> JObject(result.rounds.runs.toList.sortBy(_._1).map { case (name, runs) =>
      name -> JArray(runs.toList.map(run => JLong(run.shuffledBytes)))
    }),
    "stock" -> side(result.stock),
    "firesteel" -> side(result.firesteel)
  )

  private def side(side: Side): JValue = JObject(
    "answer" -> JString(side.run.answer.toString),
    "rowsShuffled" -> JLong(side.run.cost.rowsShuffled),
    "rowsSorted" -> side.run.cost.rowsSorted.fold[JValue](JNull)(JLong(_)),
    "spilledBytes" -> JLong(side.run.cost.spilledBytes),
    "fired" -> strings(side.fired),
    "declined" -> strings(side.declined)
  )

  private def memory(memory: Memory): JValue = memory match {
    case Memory.NotRun => JNull
    case Memory.DidNotComplete => JString("did not complete")
    case Memory.Completed(outcomes) =>
      JArray(outcomes.toList.map { outcome =>
        JObject(
          "title" -> JString(outcome.title),
          "firesteelSeconds" -> JDouble(outcome.firesteelSeconds),
          "stockSeconds" -> JDouble(outcome.stockSeconds),
          "answerRows" -> JLong(outcome.answerRows),
          "spilledBytes" -> JLong(outcome.spilledBytes),
          "fired" -> strings(outcome.fired)
        )
      })
  }

  private[bench] def sample(sample: Sample): JValue = JObject(
    "median" -> JDouble(sample.median),
    "min" -> JDouble(sample.min),
    "max" -> JDouble(sample.max))

  private def strings(words: Seq[String]): JValue = JArray(words.toList.map(JString(_)))
}
