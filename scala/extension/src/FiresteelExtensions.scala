package io.firesteel

import io.firesteel.extension.{Installation, SupportedSpark}
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.SparkSessionExtensions

/**
 * Installs every room. Set `spark.sql.extensions=io.firesteel.FiresteelExtensions`.
 *
 * This class names only what every version of Spark has. If Spark cannot load an extension, it logs
 * a warning and starts without it. An exception of the extension itself stops the session's start.
 */
class FiresteelExtensions extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    SupportedSpark.require(SPARK_VERSION)
    Installation.of(extensions)
  }
}
