package io.firesteel.lookup

import io.firesteel.core.decide.Explain
import java.lang.ref.WeakReference

import org.apache.spark.sql.DataFrame

/** Joins with `firesteel-files`, planned and run as a user's would be. */
class FilesJoinSuite extends LookupSuite {

  private def dimension(name: String): Unit = {
    spark.sql(s"DROP TABLE IF EXISTS $name")
    spark
      .range(0, 3000)
      .selectExpr(
        "if(id % 100 = 0, null, id) AS id",
        "concat('n', id) AS name",
        "CAST(id % 5 AS INT) AS kind",
        "CAST(id AS DOUBLE) AS value")
      .union(spark.range(0, 50).selectExpr("id", "'again'", "CAST(7 AS INT)", "-0.0D"))
      .write
      .bucketBy(16, "id")
      .saveAsTable(name)
    spark.read
      .format("firesteel-files")
      .option("table", name)
      .load()
      .createOrReplaceTempView(s"${name}_lookup")
  }

  private def orders: DataFrame =
    spark.range(0, 4000, 1, 4).selectExpr("id", "if(id % 9 = 0, null, id * 2) AS customer")

  test("a bucketed table looked up gives what Spark's join with the table gives") {
    dimension("people")
    orders.createOrReplaceTempView("orders")
    for {
      adaptive <- Seq(true, false)
      shuffle <- Seq(true, false)
      partitions <- Seq(4, 5, 16)
      how <- Seq("JOIN", "LEFT JOIN")
    } withConf(
      "spark.sql.adaptive.enabled" -> adaptive,
      LookupConf.SHUFFLE_PARTITIONS.key -> partitions) {
      val sql = s"FROM orders o $how {c} c ON o.customer = c.id AND c.kind <> 3"
      val ours =
        spark.sql(s"SELECT /*+ LOOKUP('table'='c', 'shuffle'='$shuffle') */ o.id, c.name " +
          sql.replace("{c}", "people_lookup"))
      val theirs = stock(spark.sql("SELECT o.id, c.name " + sql.replace("{c}", "people")).collect())
      assertSameRows(ours.collect().toSeq, theirs.toSeq, sql)
      val decided = Explain.of(executed(ours)).fired.head.values("shuffle")
      assert(decided.startsWith(if (shuffle) "custom" else "none"))
    }
  }

  test("a connector that can be scanned is loaded whole when that is asked for") {
    dimension("people")
    orders.createOrReplaceTempView("orders")
    val sql = "FROM orders o LEFT JOIN {c} c ON o.customer = c.id"
    val ours = spark.sql("SELECT /*+ LOOKUP('table'='c', 'lookup.cache'='FULL') */ o.id, c.name " +
      sql.replace("{c}", "people_lookup"))
    val theirs = stock(spark.sql("SELECT o.id, c.name " + sql.replace("{c}", "people")).collect())
    assertSameRows(ours.collect().toSeq, theirs.toSeq, sql)
    assert(Explain.of(executed(ours)).fired.head.values("cache") == "FULL")
  }

  test("a hint that names a common table expression is about the table in it") {
    dimension("people")
    orders.createOrReplaceTempView("orders")
    val partial = "'lookup.cache'='PARTIAL', 'lookup.partial-cache.max-rows'='9999'"
    def one(name: String) = s"LOOKUP('table'='$name', $partial)"
    val tables =
      "WITH p AS (SELECT id, upper(name) AS name FROM {c} WHERE kind <> 3), c AS (SELECT * FROM p)"
    Seq(
      s"$tables SELECT /*+ ${one("c")} */ o.id, c.name FROM orders o LEFT JOIN c ON o.customer = c.id",
      s"$tables SELECT /*+ ${one("a")}, ${one("b")} */ o.id, a.name, b.name, (SELECT count(*) FROM c) FROM orders o " +
        "JOIN c a ON o.customer = a.id LEFT JOIN c b ON o.id = b.id"
    ).foreach { sql =>
      val ours = spark.sql(sql.replace("{c}", "people_lookup"))
      val plain = sql.replaceAll("/\\*.*\\*/", "").replace("{c}", "people")
      assertSameRows(ours.collect().toSeq, stock(spark.sql(plain).collect()).toSeq, sql)
      assert(Explain.of(executed(ours)).fired.forall(_.values("cache") == "PARTIAL"), sql)
      assert(Explain.of(executed(ours)).fired.nonEmpty, sql)
    }
  }

  test("a join that gives no value for a bucket column is not sharded, and says so") {
    dimension("people")
    orders.createOrReplaceTempView("orders")
    val ours = spark.sql("SELECT /*+ LOOKUP('table'='c', 'shuffle'='true') */ o.id, c.name " +
      "FROM orders o JOIN people_lookup c ON concat('n', o.customer) = c.name")
    val theirs = stock(
      spark.sql(
        "SELECT o.id, c.name FROM orders o JOIN people c ON concat('n', o.customer) = c.name").collect())
    assertSameRows(ours.collect().toSeq, theirs.toSeq, "by name")
    assert(Explain.of(executed(ours)).fired.head.values("shuffle") ==
      "hash: the join gives no value for id")
  }

  test("what a function holds of the driver's stays there until its tasks have run") {
    dimension("people")
    orders.createOrReplaceTempView("orders")
    withConf("spark.sql.adaptive.enabled" -> false) {
      val ours = spark.sql("SELECT /*+ LOOKUP('table'='c') */ o.id, c.name " +
        "FROM orders o JOIN people_lookup c ON o.customer = c.id")
      val rows = ours.queryExecution.executedPlan.execute()
      // Two rounds of the cleaner, which removes broadcasts without references.
      for (_ <- 1 to 2) {
        val nothing = new WeakReference(new Object)
        while (nothing.get() != null) System.gc()
        Thread.sleep(500)
      }
      val theirs =
        stock(spark.sql("SELECT * FROM orders o JOIN people c ON o.customer = c.id").count())
      assert(rows.count() == theirs)
    }
  }
}
