package io.firesteel.core.errors

import java.net.URL

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.{ErrorClassesJsonReader, SparkThrowable}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.execution.QueryExecutionException
import org.apache.spark.sql.firesteel.SparkConditions

/**
 * The texts of every error, by condition.
 *
 * Each room has them in a file `resources/error/firesteel-error-conditions.json`; the jar has one
 * file, merged from all of them.
 */
object FiresteelErrors {

  private lazy val files: Seq[URL] =
    getClass.getClassLoader
      .getResources("error/firesteel-error-conditions.json")
      .asScala
      .toSeq

  private lazy val reader = {
    val ours = new ErrorClassesJsonReader(files)
    SparkConditions.add(ours)
    ours
  }

  /** Returns the condition, after it was added to the list that Spark and PySpark read. */
  def known(condition: String): String = {
    reader.getMessageTemplate(condition)
    condition
  }

  /** The full text of an error: `[CONDITION] sentence`. */
  def message(condition: String, parameters: Map[String, String]): String =
    s"[$condition] ${reader.getErrorMessage(condition, parameters)}"

  def sqlState(condition: String): String = reader.getSqlState(condition)

  /** The text of an error with placeholders for its parameters. */
  def template(condition: String): String = reader.getMessageTemplate(condition)

  /** Every condition, by name. */
  def conditions: Seq[String] =
    files.flatMap { file =>
      val in = file.openStream()
      try new ObjectMapper().readTree(in).fieldNames().asScala.toSeq
      finally in.close()
    }.sorted
}

/**
 * An error while a query runs. Python sees a `pyspark.errors.QueryExecutionException`: PySpark
 * converts only classes that it knows, and Spark's own class for this has no public constructor.
 */
final class FiresteelException(
    condition: String,
    parameters: Map[String, String],
    cause: Option[Throwable] = None)
  extends QueryExecutionException(
    FiresteelErrors.message(condition, parameters),
    cause.orNull)
  with SparkThrowable {

  // An error of a task reaches the driver by serialization: its constructor did not run there.
  override def getCondition: String = FiresteelErrors.known(condition)
  override def getSqlState: String = FiresteelErrors.sqlState(condition)
  override def getMessageParameters: java.util.Map[String, String] = parameters.asJava
}

/** An error that is known before a query runs; Python sees a `pyspark.errors.AnalysisException`. */
final class FiresteelAnalysisException(condition: String, parameters: Map[String, String])
  extends AnalysisException(
    message = FiresteelErrors.message(condition, parameters),
    errorClass = Some(condition),
    messageParameters = parameters) {

  override def getSqlState: String = FiresteelErrors.sqlState(condition)
}
