package org.apache.spark.sql.firesteel

import org.apache.spark.{ErrorClassesJsonReader, SparkThrowableHelper}

/**
 * Spark's own list of error conditions, to which ours are added.
 *
 * Spark reads the list from one file of its own and has no way to add to it. PySpark looks a
 * condition up there and nowhere else: for `getMessage()`, and for each error that has a place in
 * the query's text. So do an `AnalysisException` that Spark copies, for its SQLSTATE, and the
 * Thrift server's JSON messages.
 */
object SparkConditions {

  /** Adds the conditions of `ours`; those that Spark has already are left as they are. */
  def add(ours: ErrorClassesJsonReader): Unit = synchronized {
    val reader = SparkThrowableHelper.errorReader
    val missing = ours.errorInfoMap -- reader.errorInfoMap.keySet
    if (missing.nonEmpty) {
      // The map is immutable and its field final: only reflection can replace it.
      val list = classOf[ErrorClassesJsonReader].getDeclaredField("errorInfoMap")
      list.setAccessible(true)
      list.set(reader, reader.errorInfoMap ++ missing)
    }
  }
}
