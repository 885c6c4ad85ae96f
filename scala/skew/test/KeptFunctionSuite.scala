package io.firesteel.skew

import java.sql.DriverManager
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.{FileSourceScanExec, LocalTableScanExec, SortExec}
import org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog
import org.apache.spark.sql.execution.exchange.{Exchange, ReusedExchangeExec}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DoubleType

/** Spark's rules for its own aggregates also apply to aggregates that this room computes. */
class KeptFunctionSuite extends SkewSuite {

  private val url = "jdbc:h2:mem:kept;DB_CLOSE_DELAY=-1"

  override protected def settings: Map[String, String] = Map(
    "spark.sql.catalog.h2" -> classOf[JDBCTableCatalog].getName,
    "spark.sql.catalog.h2.url" -> url,
    "spark.sql.catalog.h2.driver" -> "org.h2.Driver"
  )

  private val firing = Seq("PlanDistinctAggregate")

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark.sql("SELECT id % 7 AS k, id % 1000 AS a, (id * 31) % 500 AS b, id AS v FROM range(5000)")
      .createOrReplaceTempView("t")
  }

  Seq(
    "k IN (SELECT id FROM range(3))",
    "k NOT IN (SELECT id FROM range(3))",
    "EXISTS (SELECT 1 FROM range(3) WHERE id = k)",
    "k + (SELECT max(id) FROM range(3))"
  ).foreach { result =>
    test(s"a subquery next to the counts: $result") {
      val sql =
        s"SELECT k, $result AS x, count(DISTINCT a), count(DISTINCT b), sum(v) FROM t GROUP BY k"
      Seq(true, false).foreach { adaptive =>
        withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> adaptive) {
          assert(fired(sql) == firing)
          assertSameAnswer(sql)
        }
      }
    }
  }

  test("Spark's check of plans passes") {
    withConf("spark.sql.planChangeValidation" -> true) {
      val sql = "SELECT k, count(DISTINCT a), count(DISTINCT b) FROM t GROUP BY k"
      assert(fired(sql) == firing)
      assertSameAnswer(sql)
    }
  }

  test("rows are not sorted for counts") {
    val sql = "SELECT k, count(DISTINCT a), count(DISTINCT b), max(v) " +
      "FROM (SELECT * FROM t ORDER BY v) GROUP BY k"
    withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> false) {
      assert(fired(sql) == firing)
      assert(executed(spark.sql(sql)).collectFirst { case sort: SortExec => sort }.isEmpty)
    }
    assertSameAnswer(sql)
    // Without the order the first 100 rows are others.
    assertSameAnswer("SELECT count(DISTINCT a), count(DISTINCT b), sum(v) " +
      "FROM (SELECT * FROM t ORDER BY v DESC LIMIT 100)")
  }

  test("nothing is computed over an empty input") {
    val sql = "SELECT k, count(DISTINCT a), count(DISTINCT b) FROM t WHERE 1 = 0 GROUP BY k"
    withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> false) {
      assert(executed(spark.sql(sql)).isInstanceOf[LocalTableScanExec])
    }
    assertSameAnswer("SELECT count(DISTINCT a), count(DISTINCT b) FROM t WHERE 1 = 0")
  }

  test("a join above prunes partitions below") {
    spark.sql("CREATE TABLE parts USING parquet PARTITIONED BY (p) AS " +
      "SELECT id % 5 AS a, id % 3 AS b, id % 10 AS p FROM range(1000)")
    spark.sql("CREATE TABLE regions USING parquet AS SELECT id AS p, id % 5 AS r FROM range(10)")
    try {
      val sql =
        "SELECT c.* FROM (SELECT p, count(DISTINCT a), count(DISTINCT b) FROM parts GROUP BY p) c " +
          "JOIN regions r ON c.p = r.p WHERE r.r = 1"
      withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> false) {
        assert(fired(sql) == firing)
        val scans = executed(spark.sql(sql)).collect { case scan: FileSourceScanExec => scan }
        assert(scans.exists(_.partitionFilters.exists(_.sql.contains("dynamicpruning"))), scans)
      }
      assertSameAnswer(sql)
    } finally Seq("parts", "regions").foreach(name => spark.sql(s"DROP TABLE $name"))
  }

  test("equal subplans are computed once") {
    val sql =
      "WITH c AS (SELECT k, count(DISTINCT a) x, count(DISTINCT b) y, sum(v) s FROM t GROUP BY k) " +
        "SELECT * FROM c UNION ALL SELECT * FROM c"
    withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> false) {
      val plan = executed(spark.sql(sql))
      assert(plan.collect { case merge: MergeDistinctExec => merge }.size == 1, plan)
      assert(plan.collect { case again: ReusedExchangeExec => again }.size == 1, plan)
      // A different sum makes a different plan.
      val other = sql.replace(
        "SELECT * FROM c UNION ALL SELECT * FROM c",
        "SELECT * FROM c UNION ALL " +
          "SELECT k, count(DISTINCT a), count(DISTINCT b), sum(a) FROM t GROUP BY k")
      val apart = executed(spark.sql(other))
      assert(apart.collect { case merge: MergeDistinctExec => merge }.size == 2, apart)
      assert(apart.collect { case exchange: Exchange => exchange }.size == 4, apart)
      assertSameAnswer(other)
    }
    assertSameAnswer(sql)
  }

  test("a database that computes the aggregate still does") {
    val connection = DriverManager.getConnection(url)
    try {
      Seq(
        "CREATE SCHEMA \"s\"",
        "CREATE TABLE \"s\".\"big\" (\"k\" INT, \"a\" INT, \"b\" INT)",
        "INSERT INTO \"s\".\"big\" SELECT X % 5, X % 70, X % 40 FROM SYSTEM_RANGE(1, 1000)"
      ).foreach(connection.createStatement().execute)
      val sql =
        "SELECT k, count(DISTINCT a), count(DISTINCT b) FROM h2.s.big WHERE a > 3 GROUP BY k"
      // If Spark removes the aggregate from the plan, the reason is lost with it.
      assert(fired(sql).isEmpty)
      assert(explain(sql).plan.contains("PushedAggregates"), explain(sql).plan)
      assertSameAnswer(sql)
      // The source does not compute the aggregate if a shuffle is between them.
      assert(fired("SELECT count(DISTINCT a), count(DISTINCT b) FROM (SELECT * FROM h2.s.big " +
        "DISTRIBUTE BY a)") == firing)
    } finally connection.close()
  }

  test("an argument is computed once a row") {
    KeptFunctionSuite.calls.set(0)
    spark.udf.register(
      "counted",
      (v: Long) => {
        KeptFunctionSuite.calls.incrementAndGet()
        v.toDouble
      })
    val sql = "SELECT k, count(DISTINCT a), count(DISTINCT b), stddev(counted(v)), " +
      "avg(counted(v)), max(counted(v)) FILTER (WHERE v % 2 = 0) FROM t GROUP BY k"
    assert(fired(sql) == firing)
    val _ = spark.sql(sql).collect()
    assert(KeptFunctionSuite.calls.get == 5000 + 2500)
    assert(spark.sql(sql).schema.last.dataType == DoubleType)
    assertSameAnswer(sql.replace("stddev(counted(v))", "round(stddev(counted(v)), 6)"))
    // The argument may not be computed on rows that the filter excludes.
    withConf(SQLConf.ANSI_ENABLED.key -> true) {
      val divided =
        "SELECT count(DISTINCT a), count(DISTINCT b), max(1000 / a) FILTER (WHERE a > 0), " +
          "count(1000 / a) FILTER (WHERE a > 0) FROM t"
      assert(spark.sql(divided).collect().toSeq == Seq(Row(1000L, 500L, 1000.0, 4995L)))
    }
  }
}

private object KeptFunctionSuite {

  /** Calls of a function in this virtual machine. */
  val calls = new AtomicInteger
}
