package io.firesteel.testkit

import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.Row
import org.scalacheck.{Prop, Test}
import org.scalacheck.rng.Seed
import org.scalatest.Assertion

/** Properties of random queries: they have stock Spark's answer. */
trait RandomQueries extends RoomSuite {

  /** Stock Spark's rows of a query under `settings`. */
  protected def sparksRows(sql: String, settings: Seq[(String, Any)]): Seq[Row] =
    withConf(settings: _*)(stock(rowsOf(sql)))

  /**
   * The query has Spark's rows; beside Comet also where Comet alone has others, or fails.
   *
   * @param about the case, for a message
   */
  protected def hasRows(sql: String, theirs: Seq[Row], about: => String): Prop = {
    val expected = RowBag.of(theirs)
    Try(RowBag.of(rowsOf(sql))) match {
      case Success(ours) =>
        Prop(ours == expected || isCometsFault(sql, expected)) :|
          s"$sql\n$about\nours $ours\nSpark's $expected"
      case Failure(_) if isCometsFault(sql, expected) => Prop.passed
      case Failure(error) => Prop.exception(error) :| s"$sql\n$about"
    }
  }

  /** Checks so many cases of a property. */
  protected def checkCases(property: Prop, cases: Int): Assertion = {
    val parameters = Test.Parameters.default
      .withMinSuccessfulTests(cases)
      .withInitialSeed(Seed(TestSize.seed(20261121L)))
    val result = Test.check(parameters, property)
    assert(result.passed, result.status)
  }
}
