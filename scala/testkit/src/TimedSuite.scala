package io.firesteel.testkit

import org.scalatest.funsuite.AnyFunSuite

/** Tests of which the slow ones are marked, so that `make test` leaves them out. */
abstract class TimedSuite extends AnyFunSuite {
  override def tags: Map[String, Set[String]] =
    SlowTests.tagged(suiteName, testNames, super.tags)
}
