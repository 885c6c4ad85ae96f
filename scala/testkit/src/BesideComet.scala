package io.firesteel.testkit

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}

/**
 * Suites beside DataFusion Comet, as `build/test-comet` runs them. `FIRESTEEL_TEST_COMET` says where
 * its extension stands: `first` or `last`.
 */
object BesideComet {

  private val place: Option[String] = sys.env.get("FIRESTEEL_TEST_COMET")

  val isOn: Boolean = place.nonEmpty

  /** Stock Spark has no Comet either. */
  val off: Seq[(String, Any)] = place.map(_ => "spark.comet.enabled" -> false).toSeq

  /** Comet runs what it can, above rows of tests too, which lie in no file. */
  private val settings = Map(
    "spark.shuffle.manager" ->
      "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager",
    "spark.comet.exec.shuffle.enabled" -> "true",
    "spark.comet.sparkToColumnar.enabled" -> "true",
    "spark.comet.sparkToColumnar.supportedOperatorList" ->
      "Range,InMemoryTableScan,RDDScan,LocalTableScan",
    "spark.memory.offHeap.enabled" -> "true",
    "spark.memory.offHeap.size" -> "1g"
  )

  /** A session with `ours`, and with Comet where it was asked for. */
  def install(
      builder: SparkSession.Builder,
      ours: SparkSessionExtensions => Unit): SparkSession.Builder =
    place match {
      case None => builder.withExtensions(ours)
      case Some(where) =>
        settings.foreach { case (key, value) => builder.config(key, value) }
        val both = if (where == "first") Seq(comets, ours) else Seq(ours, comets)
        both.foldLeft(builder)(_.withExtensions(_))
    }

  private def comets: SparkSessionExtensions => Unit =
    Class.forName("org.apache.comet.CometSparkSessionExtensions").getConstructor().newInstance()
      .asInstanceOf[SparkSessionExtensions => Unit]

  /**
   * The query alone. Beside Comet also below a limit, an order, `DISTINCT` and `UNION`: adaptive
   * execution drops what is above an exchange that seems to carry a row or none.
   */
  def above(spark: SparkSession, sql: String): Seq[String] =
    if (!isOn) Seq(sql)
    else {
      // Maps have no order and are equal to none.
      val compared = if (spark.sql(sql).schema.toDDL.contains("MAP<")) Nil
      else Seq(
        s"SELECT DISTINCT * FROM ($sql)",
        s"SELECT * FROM ($sql) ORDER BY ALL LIMIT 5",
        s"($sql) UNION ($sql)")
      Seq(sql, s"SELECT count(*) FROM (SELECT * FROM ($sql) LIMIT 5)") ++ compared
    }
}
