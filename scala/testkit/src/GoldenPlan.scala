package io.firesteel.testkit

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import org.apache.spark.sql.execution.SparkPlan
import org.scalatest.{Assertion, Assertions}

/** Plans as text files, next to Spark's plans. `GOLDEN=write` in the environment rewrites them. */
object GoldenPlan extends Assertions {

  /** The text of a plan without ids and paths, which change from run to run. */
  def normalised(plan: SparkPlan): String = normalised(plan.treeString)

  /** The same for a plan that is already text. */
  def normalised(plan: String): String =
    plan
      .replaceAll("#\\d+L?", "")
      .replaceAll("\\[plan_id=\\d+\\]", "")
      .replaceAll(", \\[id=#?\\d*\\]", "")
      .replaceAll("\\(\\d+ paths\\)\\[[^\\]]*\\]", "[...]")
      .replaceAll("\\*\\(\\d+\\) ", "")
      .replaceAll("state info \\[[^\\]]*\\]( stateStoreCkptIds = None)?", "state info")
      .replaceAll("[ ,]+\n", "\n")
      .trim

  /** Compares `text` with the file, or writes it there. */
  def assertEquals(file: Path, text: String): Assertion =
    if (sys.env.get("GOLDEN").contains("write")) {
      Files.createDirectories(file.getParent)
      Files.writeString(file, text, UTF_8)
      succeed
    } else {
      assert(Files.exists(file), s"$file is missing: run with GOLDEN=write and read it")
      val wanted = Files.readString(file, UTF_8)
      assert(text == wanted, s"$file differs: if the new plan is better, run with GOLDEN=write")
    }
}
