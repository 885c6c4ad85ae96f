package io.firesteel.extension

/**
 * Refuses a Spark that this jar was not built for, before a query meets a method that is not there.
 *
 * It must load on any Spark since 3.5, with the Scala of that Spark, so it names Java's own classes
 * alone.
 */
object SupportedSpark {

  /** The Spark line that this jar was built and tested for. */
  val line: String = "4.3"

  /** Of Java's exceptions, this is one that PySpark passes on as its own. */
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
