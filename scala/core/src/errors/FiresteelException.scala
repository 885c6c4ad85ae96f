package io.firesteel.core.errors

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.{ErrorClassesJsonReader, SparkThrowable}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.execution.QueryExecutionException

/** The sentences of every error, by condition: `resources/error/firesteel-error-conditions.json`. */
object FiresteelErrors {

  private val file = "error/firesteel-error-conditions.json"

  private lazy val reader =
    new ErrorClassesJsonReader(Seq(getClass.getClassLoader.getResource(file)))

  /** The full text of an error: `[CONDITION] sentence`. */
  def message(condition: String, parameters: Map[String, String]): String =
    s"[$condition] ${reader.getErrorMessage(condition, parameters)}"

  def sqlState(condition: String): String = reader.getSqlState(condition)

  /** The text of an error with its parameters unfilled. */
  def template(condition: String): String = reader.getMessageTemplate(condition)

  /** Every condition, by name. */
  def conditions: Seq[String] = {
    val in = getClass.getClassLoader.getResourceAsStream(file)
    try new ObjectMapper().readTree(in).fieldNames().asScala.toSeq.sorted
    finally in.close()
  }
}

/**
 * An error while a query runs. Python sees a `pyspark.errors.QueryExecutionException`: PySpark
 * passes on only classes that it knows, and Spark's own class for this has no public constructor.
 */
final class FiresteelException(
    condition: String,
    parameters: Map[String, String],
    cause: Option[Throwable] = None)
  extends QueryExecutionException(
    FiresteelErrors.message(condition, parameters),
    cause.orNull)
  with SparkThrowable {

  override def getCondition: String = condition
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
