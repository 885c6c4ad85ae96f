package io.firesteel.sinks.apply

import io.firesteel.core.errors.FiresteelAnalysisException
import org.scalatest.funsuite.AnyFunSuite

class ApplyOptionsSuite extends AnyFunSuite {

  private val least = Map("changes.keys" -> "a", "changes.batch-id" -> "3", "path" -> "/t")

  private def refused(options: (String, String)*): String =
    intercept[FiresteelAnalysisException](ApplyOptions.of(least ++ options)).getMessage

  test("reads keys separated by commas, and as JSON, in which a name may contain a comma") {
    assert(ApplyOptions.of(least + ("changes.keys" -> "a, b")).keys === Seq("a", "b"))
    assert(ApplyOptions.of(least + ("changes.keys" -> """["a, b", "c"]""")).keys ===
      Seq("a, b", "c"))
  }

  test("keeps other options for the database, and does not show them") {
    val options = ApplyOptions.of(least ++ Map("url" -> "jdbc:x", "Password" -> "Open-Sesame"))
    assert(options.database === Map("url" -> "jdbc:x", "Password" -> "Open-Sesame"))
    assert(options.path.contains("/t"))
    assert(!options.toString.contains("Sesame"))
  }

  test("refuses a wrong value, and names the option") {
    assert(refused("changes.kees" -> "a").contains("FIRESTEEL_APPLY_UNKNOWN_OPTION"))
    Seq(
      "changes.keys" -> "a,,b",
      "changes.keys" -> "[]",
      "changes.batch-id" -> "-1",
      "changes.buckets" -> "0",
      "changes.upserts" -> "perhaps",
      "changes.retention" -> "soon"
    ).foreach { option =>
      assert(refused(option).contains(s"option ${option._1} of firesteel-table is ${option._2}"))
    }
    val missing = intercept[FiresteelAnalysisException](ApplyOptions.of(least - "changes.keys"))
    assert(missing.getCondition === "FIRESTEEL_APPLY_MISSING_OPTION")
  }
}
