package io.firesteel.testkit

import org.apache.spark.SPARK_VERSION

/** Tests of what came with a version of Spark. */
object SinceSpark {

  /** Whether this Spark is of a minor version, such as 4.2, or of a later one. */
  def is(minor: String): Boolean = numbers(SPARK_VERSION) >= numbers(minor)

  /** Whether this Spark is of a later minor version. */
  def isAfter(minor: String): Boolean = numbers(SPARK_VERSION) > numbers(minor)

  /** Runs `body`, which may be a test, on these versions alone. */
  def apply(minor: String)(body: => Any): Unit = if (is(minor)) { val _ = body }

  private def numbers(version: String): Int = {
    val parts = version.split("[.-]").map(_.toIntOption.getOrElse(0))
    parts(0) * 1000 + parts(1)
  }
}
