package io.firesteel.changelog.plan

import io.firesteel.changelog.ChangelogSuite

import scala.util.Try

import org.apache.spark.sql.firesteel.executionOf

/** The text of every function that Spark has, by the examples of its reference. */
class FunctionTextsSuite extends ChangelogSuite {

  private val example = """> (SELECT [^;]*);""".r

  private def examples: Seq[String] = {
    val registry = spark.sessionState.functionRegistry
    registry.listFunction().flatMap(registry.lookupFunction).flatMap { function =>
      example.findAllMatchIn(function.getExamples).map(_.group(1))
    }.distinct.sorted
  }

  private def textOf(sql: String): Option[Seq[String]] =
    Try(executionOf(spark.sql(sql)).analyzed).toOption.map { plan =>
      val text = new QueryText(Map.empty)
      plan.flatMap(_.expressions.map(text.of))
    }

  test("two starts of a query have one text, whatever function it calls") {
    val texts = examples.flatMap(sql => textOf(sql).map((sql, _)))
    assert(texts.size > 600)
    val changed = texts.filterNot { case (sql, text) => textOf(sql).contains(text) }
    assert(changed.isEmpty)
  }
}
