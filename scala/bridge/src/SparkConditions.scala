package org.apache.spark.sql.firesteel

import org.apache.spark.{ErrorClassesJsonReader, SparkThrowableHelper}

/**
 * Adds our error conditions to Spark's own list.
 *
 * Spark reads its list from one file and has no way to add to it. PySpark looks conditions up only
 * there: for `getMessage()`, and for each error with a place in the query's text. An
 * `AnalysisException` that Spark copies needs it for its SQLSTATE, and the Thrift server for its
 * JSON messages.
 */
object SparkConditions {

  /** Adds the conditions of `ours`; conditions that Spark already has stay unchanged. */
  def add(ours: ErrorClassesJsonReader): Unit = synchronized {
    val reader = SparkThrowableHelper.errorReader
    val missing = ours.errorInfoMap -- reader.errorInfoMap.keySet
    if (missing.nonEmpty) {
      // The map is immutable and its field is final: only reflection can replace it.
      val list = classOf[ErrorClassesJsonReader].getDeclaredField("errorInfoMap")
      list.setAccessible(true)
      list.set(reader, reader.errorInfoMap ++ missing)
    }
  }
}
