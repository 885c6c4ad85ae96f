package io.firesteel.tests

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Try

import org.apache.spark.sql.{Encoders, SparkSession}

/** A database for one of Spark's files of SQL tests, which its sessions use. */
final private class SparkSqlDatabase(spark: SparkSession, file: SparkSqlFile) {
  import SparkSqlDatabase._

  val name: String = "tests_" + file.name.replaceAll("\\W", "_")

  spark.sql(s"CREATE DATABASE $name")

  /** A session with the settings of the file. Some are of other versions of Spark. */
  def newSession(): SparkSession = {
    val session = spark.newSession()
    session.sql(s"USE $name")
    session.conf.set("spark.sql.sources.default", "parquet")
    file.settings.foreach { case (key, value) => Try(session.conf.set(key, value)) }
    session
  }

  def drop(): Unit = {
    val _ = spark.sql(s"DROP DATABASE $name CASCADE")
  }

  /** Makes the views that Spark's suite makes before it runs a file; returns their names. */
  def createGiven(session: SparkSession): Seq[String] = {
    session.range(100).selectExpr("CAST(id + 1 AS INT) AS key", "CAST(id + 1 AS STRING) AS value")
      .createOrReplaceTempView("testdata")
    val more = if (file.name.startsWith("postgreSQL/")) postgres else Map.empty
    more.foreach { case (view, (data, columns)) =>
      val in = getClass.getClassLoader.getResourceAsStream(s"test-data/postgresql/$data")
      val lines =
        try new String(in.readAllBytes(), UTF_8).linesIterator.take(mostRows).toSeq
        finally in.close()
      session.read.schema(columns).option("delimiter", "\t")
        .csv(session.createDataset(lines)(Encoders.STRING)).createOrReplaceTempView(view)
    }
    "testdata" +: more.keys.toSeq
  }
}

private object SparkSqlDatabase {

  /** As many rows as a test of a stream needs. */
  private val mostRows = 300

  private val many =
    "unique1 int, unique2 int, two int, four int, ten int, twenty int, hundred int, thousand int, " +
      "twothousand int, fivethous int, tenthous int, odd int, even int, stringu1 string, " +
      "stringu2 string, string4 string"

  private val postgres = Map(
    "aggtest" -> ("agg.data" -> "a int, b float"),
    "onek" -> ("onek.data" -> many),
    "tenk1" -> ("tenk.data" -> many))
}
