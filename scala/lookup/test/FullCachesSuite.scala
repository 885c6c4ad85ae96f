package io.firesteel.lookup

import java.nio.file.Files

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, SparkSession}

/** Dimensions that are loaded whole, kept or dropped when contexts start and stop. */
class FullCachesSuite extends LookupSuite {

  private val in = Files.createTempDirectory("firesteel-feed").toString
  private val dimension = Files.createTempDirectory("firesteel-dimension").toString
  private val checkpoint = Files.createTempDirectory("firesteel-checkpoint").toString

  private def write(session: SparkSession, version: String): Unit = session
    .range(0, 5)
    .selectExpr("id", s"'$version' AS country")
    .write
    .mode("overwrite")
    .parquet(dimension)

  /** Runs the stream on five new rows; returns its id, and the values that it joined. */
  private def run(session: SparkSession): (String, Seq[String]) = {
    session.range(0, 5).selectExpr("id AS customer_id").coalesce(1).write.mode("append").json(in)
    session.readStream.schema("customer_id LONG").json(in).createOrReplaceTempView("orders")
    session.read.parquet(dimension).createOrReplaceTempView("dimension")
    val seen = mutable.ArrayBuffer.empty[String]
    val query = session
      .sql(
        "SELECT /*+ LOOKUP(('table'='c'), ('lookup.full-cache.periodic-reload.interval'='1 h')) */ " +
          "c.country FROM orders o JOIN dimension c ON o.customer_id = c.id")
      .writeStream
      .option("checkpointLocation", checkpoint)
      .foreachBatch { (batch: DataFrame, _: Long) =>
        val _ = seen ++= batch.collect().map(_.getString(0))
      }
      .start()
    try query.processAllAvailable()
    finally query.stop()
    (query.id.toString, seen.toSeq)
  }

  test("a stream that continues in another Spark context loads its dimension again") {
    write(spark, "a")
    val (id, first) = run(spark)
    assert(first == Seq.fill(5)("a"))
    write(spark, "b")
    assert(run(spark) == ((id, Seq.fill(5)("a"))), "kept while the context is the same")
    spark.stop()
    val builder = SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false")
    val other = builder.withExtensions(install).getOrCreate()
    try {
      assert(run(other) == ((id, Seq.fill(5)("b"))))
      assert(FullCaches.sizeOf(id) == 1, "what the other context had is forgotten")
    } finally other.stop()
  }
}
