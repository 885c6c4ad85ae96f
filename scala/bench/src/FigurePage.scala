package io.firesteel.bench

import io.firesteel.bench.JsonPage.sample
import io.firesteel.bench.MarkdownPage.{environment, seconds, spread, table}

import org.json4s.{JArray, JBool, JDouble, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.{pretty, render}

/** The page of a suite of figures, for people and for programs. */
object FigurePage {

  def of(suite: FigureSuite, results: FigureResults): String = {
    val command = results.environment.facts.toMap.getOrElse("command", "")
    val heading =
      s"""# Measured: ${suite.title}
         |
         |Written by $command; do not edit. What is compared ran in turn in one JVM, on two cores. A ratio
         |is the median of the ratios of one round each, with the smallest and the largest; seconds are
         |medians.""".stripMargin
    val parts = suite.parts.flatMap { part =>
      val figures = results.figures.filter(_.part == part.name)
      Option.when(figures.nonEmpty)(
        s"## ${part.name.capitalize}\n\n${part.note}\n\n${shown(figures)}")
    }
    (heading +: parts :+ environment(results.environment)).mkString("\n\n") + "\n"
  }

  private def shown(figures: Seq[Figure]): String = table(
    Seq("case", "state", "target", "measured", "verdict", "seconds", "seconds"),
    figures.map { its =>
      Seq(
        its.title,
        its.provider,
        s"${its.over} / ${its.under} ${its.bound.label}",
        spread(its.ratio),
        its.bound.missedBy(its.ratio.median).fold("met")(by => f"missed by ${by * 100}%.1f %%"),
        s"${its.over} ${seconds(its.rounds.seconds(its.over))}",
        s"${its.under} ${seconds(its.rounds.seconds(its.under))}"
      )
    }
  )

  def json(suite: FigureSuite, results: FigureResults): String = pretty(render(JObject(
    "room" -> JString(suite.suite),
    "noise" -> JBool(false),
    "environment" -> JObject(results.environment.facts.toList.map { case (name, value) =>
      name -> JString(value)
    }),
    "cases" -> JArray(results.figures.toList.map(one))
  ))) + "\n"

  private def one(its: Figure): JValue = JObject(
    "name" -> JString(its.part),
    "title" -> JString(its.title),
    "provider" -> JString(its.provider),
    "ratio" -> JString(s"${its.over} / ${its.under}"),
    "measured" -> sample(its.ratio),
    "bound" -> JString(its.bound.label),
    "met" -> JBool(its.isMet),
    "seconds" -> JObject(its.rounds.runs.toList.sortBy(_._1).map { case (name, runs) =>
      name -> JArray(runs.toList.map(run => JDouble(run.seconds)))
    })
  )
}
