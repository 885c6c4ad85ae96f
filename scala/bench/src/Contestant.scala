package io.firesteel.bench

import org.apache.spark.sql.{DataFrame, SparkSession}

/** A query under its settings, timed in turn with others. */
final case class Contestant(name: String, sql: String, settings: Map[String, String]) {

  /** Runs `body` under the settings, and restores them afterwards. */
  def within[A](spark: SparkSession)(body: => A): A = {
    val before = settings.keys.map(key => key -> spark.conf.getOption(key)).toSeq
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally before.foreach {
        case (key, Some(value)) => spark.conf.set(key, value)
        case (key, None) => spark.conf.unset(key)
      }
  }

  /**
   * Gives `body` the query. Spark reads most settings when it plans a query, at its first run. So
   * the query must run inside `body`.
   */
  def query[A](spark: SparkSession)(body: DataFrame => A): A = within(spark)(body(spark.sql(sql)))
}

object Contestant {
  val stock: String = "stock"
  val firesteel: String = "firesteel"
  val scan: String = "scan"
  val scanAndSum: String = "scan+sum"

  /** The query as stock Spark runs it. */
  def stockOf(question: Case): Contestant = of(question, stock, question.sql, enabled = false)

  /** A reference, whose own settings win. */
  def of(question: Case, reference: Reference, enabled: Boolean): Contestant = {
    val asked = of(question, reference.name, reference.sql, enabled)
    asked.copy(settings = asked.settings ++ reference.settings)
  }

  def of(question: Case, name: String, sql: String, enabled: Boolean): Contestant =
    Contestant(name, sql, question.settings + ("spark.firesteel.enabled" -> enabled.toString))
}
