package io.firesteel

import io.firesteel.extension.{Installation, SupportedSpark}
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.SparkSessionExtensions

/**
 * Installs every room. Set `spark.sql.extensions=io.firesteel.FiresteelExtensions`.
 *
 * This class names nothing that another Spark may not have: Spark only logs a warning when it
 * cannot load an extension, and goes on without it. What it throws ends the session's start.
 */
class FiresteelExtensions extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    SupportedSpark.require(SPARK_VERSION)
    Installation.of(extensions)
  }
}
