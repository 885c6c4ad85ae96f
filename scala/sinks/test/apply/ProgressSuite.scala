package io.firesteel.sinks.apply

import io.firesteel.core.errors.FiresteelException
import org.scalatest.funsuite.AnyFunSuite

class ProgressSuite extends AnyFunSuite {

  private val progress = Progress("t", Map("q" -> Done(4L, None), "n" -> Done(4L, Some("one"))))

  private def refusal(by: AppliedBy): String =
    intercept[FiresteelException](progress.has(by)).getCondition

  test("only the last batch is skipped, and the next is applied") {
    assert(progress.has(AppliedBy("q", isNamed = false, batch = 4)))
    assert(!progress.has(AppliedBy("q", isNamed = false, batch = 5)))
  }

  test("an earlier batch is of another checkpoint") {
    assert(refusal(AppliedBy("q", isNamed = true, batch = 3)) === "FIRESTEEL_APPLY_BATCH_BEHIND")
  }

  test("batches with one name are those of one checkpoint, if its id is visible") {
    def by(id: Option[String], batch: Long) = AppliedBy("n", isNamed = true, batch, id)
    Seq(0L, 4L, 5L).foreach { batch =>
      assert(refusal(by(Some("two"), batch)) === "FIRESTEEL_APPLY_OTHER_CHECKPOINT")
    }
    assert(progress.has(by(Some("one"), 4)) && !progress.has(by(Some("one"), 5)))
    assert(progress.has(by(None, 4)) && !progress.has(by(None, 5)))
    assert(progress.has(AppliedBy("q", isNamed = true, batch = 4, id = Some("two"))))
  }

  test("a second query must be named") {
    assert(refusal(AppliedBy("r", isNamed = false, batch = 0)) === "FIRESTEEL_APPLY_OTHER_QUERY")
    assert(!progress.has(AppliedBy("r", isNamed = true, batch = 0)))
    assert(!Progress("t", Map.empty).has(AppliedBy("r", isNamed = false, batch = 0)))
  }
}
