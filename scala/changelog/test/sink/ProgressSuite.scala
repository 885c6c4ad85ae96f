package io.firesteel.changelog.sink

import io.firesteel.core.FiresteelException
import org.scalatest.funsuite.AnyFunSuite

class ProgressSuite extends AnyFunSuite {

  private val progress = Progress("t", Map("q" -> 4L))

  private def refusal(by: Writer): String =
    intercept[FiresteelException](progress.has(by)).getCondition

  test("only the last batch is passed over, and the next is applied") {
    assert(progress.has(Writer("q", isNamed = false, batch = 4)))
    assert(!progress.has(Writer("q", isNamed = false, batch = 5)))
  }

  test("an earlier batch is of another checkpoint") {
    assert(refusal(Writer("q", isNamed = true, batch = 3)) === "FIRESTEEL_APPLY_BATCH_BEHIND")
  }

  test("a second query must be named") {
    assert(refusal(Writer("r", isNamed = false, batch = 0)) === "FIRESTEEL_APPLY_OTHER_QUERY")
    assert(!progress.has(Writer("r", isNamed = true, batch = 0)))
    assert(!Progress("t", Map.empty).has(Writer("r", isNamed = false, batch = 0)))
  }
}
