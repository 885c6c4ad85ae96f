package io.firesteel.extension

import io.firesteel.core.errors.FiresteelErrors
import org.scalatest.funsuite.AnyFunSuite

/** The reference page has a heading for everything that explain and errors name. */
class ReferenceSuite extends AnyFunSuite {

  private val headings = Reference.text.linesIterator.filter(_.startsWith("#")).toSeq

  test("each code and each condition is one heading, and no two headings are equal") {
    val names = Rooms.all.flatMap(_.declines).map(_.code) ++ FiresteelErrors.conditions
    names.foreach(name => assert(headings.count(_ == s"#### `$name`") == 1, name))
    assert(headings.distinct == headings)
  }

  test("an error's sentence and its cure are two paragraphs, with parameters as code") {
    val at = Reference.text.linesIterator.toSeq
      .dropWhile(_ != "#### `FIRESTEEL_REPARTITION_RUNNING`").filter(_.nonEmpty)
    assert(at(1).contains("`<checkpoint>`"))
    assert(at(2).startsWith("**What to do:** "))
    assert(at(3) == "**SQLSTATE:** `55006`")
  }
}
