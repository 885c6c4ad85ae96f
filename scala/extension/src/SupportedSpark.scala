package io.firesteel.extension

/**
 * Refuses a version of Spark that this jar was not built for, before a query calls a missing
 * method.
 *
 * It must load on any Spark since 3.5, with the Scala of that Spark, so it names only classes of
 * Java.
 */
object SupportedSpark {

  /** The line of Spark versions that this jar was built and tested for. */
  val line: String = BuiltFor.SPARK

  /** PySpark converts this exception of Java into one of its own. */
  def require(running: String): Unit =
    if (!fits(running)) {
      throw new UnsupportedOperationException(
        "This jar of firesteel was built for Spark ".concat(line)
          .concat(", and this session runs on Spark ").concat(running)
          .concat(": run Spark ").concat(line)
          .concat(", or take io.firesteel.FiresteelExtensions out of spark.sql.extensions."))
    }

  private def fits(running: String): Boolean =
    running == line || running.startsWith(line.concat(".")) || running.startsWith(line.concat("-"))
}
