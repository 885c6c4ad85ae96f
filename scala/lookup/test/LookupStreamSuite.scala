package io.firesteel.lookup

import io.firesteel.core.decide.Explain
import java.nio.file.Files

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.firesteel.lastBatchOf
import org.apache.spark.sql.streaming.StreamingQuery

/** Micro-batches: files that arrive one after the other. */
class LookupStreamSuite extends LookupSuite {

  private def customers: DataFrame =
    spark.range(0, 50).selectExpr("id", "concat('c', id) AS country")

  private final class Feed {
    private val in = Files.createTempDirectory("firesteel-feed")
    private val checkpoint = Files.createTempDirectory("firesteel-checkpoint").toString
    private var query: StreamingQuery = _
    private val rows = scala.collection.mutable.ArrayBuffer.empty[Row]

    def orders: DataFrame =
      spark.readStream.schema("order LONG, customer_id LONG").json(s"$in/batch*")

    def start(joined: DataFrame): Unit = query = joined.writeStream
      .option("checkpointLocation", checkpoint)
      .foreachBatch { (batch: DataFrame, _: Long) =>
        val _ = rows ++= batch.collect()
      }
      .start()

    def batch(name: String, ids: Range): Unit = {
      // Moved into place together: Spark writes files one by one.
      val made = in.resolve(s"making-$name")
      spark.range(
        ids.start.toLong,
        ids.end.toLong).selectExpr("id AS order", "id % 60 AS customer_id")
        .coalesce(2).write.json(made.toString)
      val _ = Files.move(made, in.resolve(s"batch-$name"))
      query.processAllAvailable()
    }

    def stop(): Unit = query.stop()

    def id: String = query.id.toString

    def answer: Seq[Row] = rows.toSeq

    def values: Map[String, String] =
      Explain.of(lastBatchOf(query).get.executedPlan).fired.head.values
  }

  private def joined(feed: Feed, hint: String, how: String = "JOIN"): DataFrame = {
    feed.orders.createOrReplaceTempView("orders")
    spark.sql(s"SELECT $hint o.order, c.country FROM orders o $how mem.customers c " +
      "ON o.customer_id = c.id")
  }

  private def expected(ids: Range, keepAll: Boolean): Seq[Row] = ids.flatMap { id =>
    val customer = id % 60
    if (customer < 50) Some(Row(id.toLong, s"c$customer"))
    else if (keepAll) Some(Row(id.toLong, null))
    else None
  }

  test("each micro-batch asks the store again unless it is cached, also after a restart") {
    Seq("NONE" -> 2, "PARTIAL" -> 1).foreach { case (cache, times) =>
      val asked = store(
        "customers",
        customers,
        options = Map("lookup.cache" -> cache, "lookup.partial-cache.max-rows" -> "1000"))
      val feed = new Feed
      feed.start(joined(feed, "/*+ LOOKUP(('table'='c'), ('shuffle'='true')) */", "LEFT JOIN"))
      feed.batch("1", 0 until 120)
      feed.batch("2", 120 until 240)
      assert(asked.keysAsked.length == 60 * times)
      assert(feed.values("cache") == cache)
      feed.stop()
      feed.start(joined(feed, "/*+ LOOKUP(('table'='c'), ('shuffle'='true')) */", "LEFT JOIN"))
      feed.batch("3", 240 until 300)
      feed.stop()
      assertSameRows(feed.answer, expected(0 until 300, keepAll = true), cache)
    }
  }

  test("a cache with computed columns is the same one in each micro-batch") {
    val asked = store(
      "customers",
      customers,
      options = Map("lookup.cache" -> "PARTIAL", "lookup.partial-cache.max-rows" -> "1000"))
    val feed = new Feed
    feed.orders.createOrReplaceTempView("orders")
    feed.start(spark.sql("SELECT o.order, concat(d.names[0], d.m['a']) AS country FROM orders o " +
      "LEFT JOIN (SELECT id, transform(array(country), x -> concat(x, '')) AS names, " +
      "map('a', '') AS m FROM mem.customers WHERE id > -1) d ON o.customer_id = d.id"))
    (0 until 3).foreach(i => feed.batch(i.toString, i * 60 until (i + 1) * 60))
    feed.stop()
    assert(asked.keysAsked.sorted == (0 until 60).map(_.toString).sorted)
    assertSameRows(feed.answer, expected(0 until 180, keepAll = true), "computed")
  }

  test("a table of files has one cache for all micro-batches, until its files change") {
    def write(ids: Range): Unit = spark
      .range(ids.start.toLong, ids.end.toLong)
      .selectExpr("id", "concat('c', id) AS country")
      .write
      .mode("append")
      .bucketBy(4, "id")
      .saveAsTable("streamed")
    write(0 until 50)
    spark.read.format("firesteel-files").option("table", "streamed").load()
      .createOrReplaceTempView("streamed_lookup")
    val feed = new Feed
    feed.orders.createOrReplaceTempView("orders")
    feed.start(spark.sql("SELECT /*+ LOOKUP(('table'='c'), ('lookup.cache'='PARTIAL'), " +
      "('lookup.partial-cache.max-rows'='1000')) */ o.order, c.country FROM orders o " +
      "LEFT JOIN streamed_lookup c ON o.customer_id = c.id"))
    (0 until 3).foreach(i => feed.batch(i.toString, i * 60 until (i + 1) * 60))
    assert(LookupCaches.sizeOf(feed.id) == 1)
    assertSameRows(feed.answer, expected(0 until 180, keepAll = true), "files")
    write(50 until 60)
    feed.batch("3", 0 until 60)
    feed.stop()
    assert(LookupCaches.sizeOf(feed.id) == 2)
    assert(feed.answer.takeRight(60).forall(_.getString(1) != null), "an older cache was used")
  }

  test("a custom shuffle keeps a cache for each shard across micro-batches") {
    withConf(LookupConf.SHUFFLE_PARTITIONS.key -> 4) {
      val asked = store(
        "customers",
        customers,
        options = Map("lookup.cache" -> "PARTIAL", "lookup.partial-cache.max-rows" -> "1000"),
        partitioner = Some(LastDigit))
      val feed = new Feed
      feed.start(joined(feed, "/*+ LOOKUP(('table'='c'), ('shuffle'='true')) */"))
      (0 until 3).foreach(i => feed.batch(i.toString, i * 60 until (i + 1) * 60))
      feed.stop()
      assert(asked.keysAsked.sorted == (0 until 60).map(_.toString).sorted)
      assertSameRows(feed.answer, expected(0 until 180, keepAll = false), "custom")
    }
  }

  test("a dimension that holds the time of its micro-batch is not kept for each of them") {
    val path = Files.createTempDirectory("firesteel-dimension").toString
    spark.range(0, 60).selectExpr("id", "concat('c', id) AS country").write.mode("overwrite")
      .parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("dimension")
    val feed = new Feed
    feed.orders.createOrReplaceTempView("orders")
    feed.start(spark.sql(
      "SELECT /*+ LOOKUP(('table'='c'), ('lookup.full-cache.periodic-reload.interval'='1 h')) */ " +
        "o.order, c.country FROM orders o JOIN (SELECT *, current_timestamp() AS seen " +
        "FROM dimension WHERE current_timestamp() > TIMESTAMP '2020-01-01') c " +
        "ON o.customer_id = c.id WHERE c.seen IS NOT NULL"))
    (0 until 6).foreach(i => feed.batch(i.toString, i * 10 until (i + 1) * 10))
    val kept = FullCaches.sizeOf(feed.id)
    feed.stop()
    assert(feed.answer.length == 60)
    assert(kept >= 1 && kept <= 3, s"$kept dimensions are kept")
  }

  test("FULL is loaded for each micro-batch, or again only when its interval is over") {
    Seq(
      "" -> Seq("a", "b", "c"),
      ", ('lookup.full-cache.periodic-reload.interval'='1 h')" -> Seq("a", "a", "a")).foreach {
      case (interval, versions) =>
        val path = Files.createTempDirectory("firesteel-dimension").toString
        def write(version: String): Unit =
          spark.range(
            0,
            60).selectExpr("id", s"'$version' AS country").write.mode("overwrite").parquet(path)
        write("a")
        spark.read.parquet(path).createOrReplaceTempView("dimension")
        val feed = new Feed
        feed.orders.createOrReplaceTempView("orders")
        feed.start(spark.sql(s"SELECT /*+ LOOKUP(('table'='c')$interval) */ o.order, c.country " +
          "FROM orders o JOIN dimension c ON o.customer_id = c.id"))
        Seq("a", "b", "c").zipWithIndex.foreach { case (version, i) =>
          if (i > 0) write(version)
          feed.batch(version, i * 10 until (i + 1) * 10)
        }
        feed.stop()
        val seen =
          feed.answer.groupBy(_.getLong(0) / 10).toSeq.sortBy(_._1).map(_._2.head.getString(1))
        assert(seen == versions && feed.answer.length == 30)
    }
  }

  test("FULL of a table of Spark's JDBC catalog is kept for its interval") {
    val catalog = "spark.sql.catalog.derby"
    withConf(
      catalog -> "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
      s"$catalog.url" -> "jdbc:derby:memory:full;create=true",
      s"$catalog.driver" -> "org.apache.derby.jdbc.EmbeddedDriver"
    ) {
      spark.sql("CREATE TABLE derby.c (id BIGINT, v INT)")
      spark.sql("INSERT INTO derby.c SELECT id, 1 FROM range(60)")
      val feed = new Feed
      feed.orders.createOrReplaceTempView("orders")
      val interval = "'lookup.full-cache.periodic-reload.interval'='1 h'"
      feed.start(spark.sql(s"SELECT /*+ LOOKUP('table'='c', $interval) */ o.order, c.v " +
        "FROM orders o JOIN derby.c c ON o.customer_id = c.id WHERE c.id < 50"))
      feed.batch("a", 0 until 10)
      spark.sql("INSERT INTO derby.c SELECT id, 2 FROM range(60)")
      feed.batch("b", 10 until 20)
      feed.stop()
      assert(feed.answer.length == 20 && FullCaches.sizeOf(feed.id) == 1)
    }
  }
}
