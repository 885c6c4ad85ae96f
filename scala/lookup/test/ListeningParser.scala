package io.firesteel.lookup

import java.lang.reflect.{InvocationTargetException, Method, Proxy}

import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Another extension's parser. */
trait ListeningParser extends ParserInterface {

  /** As Iceberg's parser has methods of its own. */
  def order(text: String): String

  /** As Hudi's parser declares methods of Spark's again. */
  def parseQuery(sqlText: String): LogicalPlan
}

object ListeningParser {

  /**
   * Spark's versions have several methods of parsers, hence a proxy.
   *
   * @param listen gets each text to parse
   * @param remade makes the parser's own plan of a text and of Spark's plan
   */
  def apply(
      spark: ParserInterface,
      listen: String => Unit = _ => (),
      remade: (String, LogicalPlan) => LogicalPlan = (_, plan) => plan): ListeningParser =
    Proxy
      .newProxyInstance(
        getClass.getClassLoader,
        Array(classOf[ListeningParser]),
        (_: Any, method: Method, arguments: Array[AnyRef]) =>
          if (method.getName == "order") {
            require(arguments.head != "wrong", "a wrong order")
            s"ordered by ${arguments.head}"
          } else {
            try {
              val made =
                if (method.getName == "parseQuery") spark.parseQuery(arguments.head.toString)
                else method.invoke(spark, arguments: _*)
              if (!Set("parsePlan", "parseQuery")(method.getName)) made
              else {
                listen(arguments.head.toString)
                remade(arguments.head.toString, made.asInstanceOf[LogicalPlan])
              }
            } catch { case e: InvocationTargetException => throw e.getCause }
          }
      )
      .asInstanceOf[ListeningParser]
}
