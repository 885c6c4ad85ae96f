package io.firesteel.testkit

import org.apache.spark.SparkThrowable

/** The condition of an error of Spark, whatever others say around it about the place. */
object ErrorCondition {

  /** The last one of the causes; none if no cause has one. */
  def of(error: Throwable): Option[String] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null)
      .collect { case known: SparkThrowable if known.getCondition != null => known.getCondition }
      .toSeq.lastOption
}
