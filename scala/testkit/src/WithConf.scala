package io.firesteel.testkit

import org.apache.spark.sql.SparkSession

/** Settings of a session for a while. */
object WithConf {

  /** Runs `body` under settings, and restores them afterwards. */
  def apply[T](spark: SparkSession, pairs: Seq[(String, Any)])(body: => T): T = {
    val before = pairs.map { case (key, _) => key -> spark.conf.getOption(key) }
    pairs.foreach { case (key, value) => spark.conf.set(key, value.toString) }
    try body
    finally before.foreach {
        case (key, Some(value)) => spark.conf.set(key, value)
        case (key, None) => spark.conf.unset(key)
      }
  }
}
