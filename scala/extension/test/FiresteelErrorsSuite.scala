package io.firesteel.extension

import io.firesteel.core.errors.{FiresteelAnalysisException, FiresteelErrors, FiresteelException}
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

/** Both of our error classes give Spark the text, state and parameters of every condition. */
class FiresteelErrorsSuite extends AnyFunSuite {

  private def parametersOf(condition: String): Map[String, String] =
    "<([a-zA-Z0-9_-]+)>".r
      .findAllMatchIn(FiresteelErrors.template(condition))
      .map(found => found.group(1) -> s"the ${found.group(1)}")
      .toMap

  /** PySpark's `getMessage()`: `private[spark]` in Scala, but public for py4j. */
  private def asPythonAsks(condition: String, parameters: java.util.Map[String, String]): Any =
    Class
      .forName("org.apache.spark.SparkThrowableHelper")
      .getMethod("getMessage", classOf[String], classOf[java.util.Map[_, _]])
      .invoke(null, condition, parameters)

  private def assertKnown(error: Throwable with SparkThrowable, condition: String): Assertion = {
    val text = FiresteelErrors.message(condition, parametersOf(condition))
    assert(error.getMessage.startsWith(text))
    assert(error.getCondition == condition)
    assert(error.getSqlState == FiresteelErrors.sqlState(condition))
    assert(
      asPythonAsks(error.getCondition, error.getMessageParameters) ==
        s"$text SQLSTATE: ${error.getSqlState}")
  }

  FiresteelErrors.conditions.foreach { condition =>
    test(s"$condition is known to Spark") {
      val parameters = parametersOf(condition)
      val refused = new FiresteelAnalysisException(condition, parameters)
      assertKnown(refused, condition)
      assertKnown(refused.withPosition(Origin(Some(1), Some(7))), condition)
      assertKnown(new FiresteelException(condition, parameters), condition)
    }
  }

  test("Spark's own conditions stay") {
    FiresteelErrors.known(FiresteelErrors.conditions.head)
    val spark = new AnalysisException("DIVIDE_BY_ZERO", Map("config" -> "c"))
    assert(spark.getSqlState == "22012")
  }
}
