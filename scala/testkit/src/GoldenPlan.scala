package io.firesteel.testkit

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import org.apache.spark.SPARK_VERSION
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

  /**
   * Compares `text` with the file, or writes it there. An older Spark has its own file in
   * `plans-4.1` beside `plans`, if its plan is not that of the next version.
   */
  def assertEquals(file: Path, text: String): Assertion = {
    val (mine, next) = (files(file).head, files(file).tail)
    if (sys.env.get("GOLDEN").contains("write")) {
      val same = next.find(Files.exists(_)).exists(Files.readString(_, UTF_8) == text)
      if (same) {
        val _ = Files.deleteIfExists(mine)
      } else {
        Files.createDirectories(mine.getParent)
        Files.writeString(mine, text, UTF_8)
      }
      succeed
    } else {
      val wanted = files(file).find(Files.exists(_))
      assert(wanted.nonEmpty, s"$file is missing: run with GOLDEN=write and read it")
      assert(
        text == Files.readString(wanted.get, UTF_8),
        s"${wanted.get} differs: if the new plan is better, run with GOLDEN=write")
    }
  }

  /** The file of this version of Spark, then those of the versions above it. */
  private def files(newest: Path): List[Path] = {
    val folder = newest.getParent.getParent
    older.filterNot(minor => minor != running && SinceSpark.is(minor)).map { minor =>
      folder.resolveSibling(s"${folder.getFileName}-$minor")
        .resolve(newest.getParent.getFileName).resolve(newest.getFileName)
    } :+ newest
  }

  private val older = List("4.0", "4.1", "4.2")

  private val running = SPARK_VERSION.split("[.-]").take(2).mkString(".")
}
