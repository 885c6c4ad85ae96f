package io.firesteel.lookup.jdbc

import org.apache.spark.sql.Row
import org.apache.spark.sql.firesteel.executionOf

/** The table in a catalog and in a plan: created, shown, scanned. */
class JdbcTableSuite extends JdbcSuite {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    execute(
      "CREATE TABLE customers (id INT, country VARCHAR(10), name VARCHAR(20))",
      "INSERT INTO customers VALUES (1, 'CH', 'Ada'), (2, 'DE', NULL), (3, 'DE', 'Bob')"
    )
    spark.sql(
      s"""CREATE TABLE customers USING `firesteel-jdbc`
         |OPTIONS (url '$url', dbtable 'customers', user 'sa', password '$password',
         |  'lookup.batch-size' '50')""".stripMargin)
    spark.read.format("firesteel-jdbc").options(login + ("dbtable" -> "customers")).load()
      .createTempView("loaded")
  }

  override protected def afterAll(): Unit =
    try { val _ = spark.sql("DROP TABLE IF EXISTS customers") }
    finally super.afterAll()

  test("a table of the catalog is scanned") {
    assertSameRows(
      spark.sql("SELECT id, name FROM customers").collect().toSeq,
      Seq(Row(1, "Ada"), Row(2, null), Row(3, "Bob")),
      "customers")
  }

  test("a loaded view is scanned") {
    assert(spark.sql("SELECT count(*) FROM loaded").head() === Row(3))
  }

  test("a scan pushes filters, columns, aggregates and limits, as Spark's source does") {
    def plan(sql: String) = executionOf(spark.sql(sql)).executedPlan.toString
    val filtered = plan("SELECT name FROM customers WHERE country = 'DE' AND id > 2")
    assert(filtered.contains(
      "PushedFilters: [COUNTRY IS NOT NULL, ID IS NOT NULL, COUNTRY = 'DE', ID > 2]"))
    assert(filtered.contains("ReadSchema: struct<NAME:string>"))
    assert(plan("SELECT country, max(id) FROM customers GROUP BY country").contains(
      "PushedAggregates: [MAX(ID)]"))
    assert(plan("SELECT id FROM customers LIMIT 2").contains("PushedLimit: LIMIT 2"))
    assert(
      spark.sql("SELECT name FROM customers WHERE country = 'DE' AND id > 2").collect() ===
        Array(Row("Bob")))
  }

  test("the schema of the catalog is used, without asking the database") {
    execute("CREATE TABLE gone (id INT)")
    spark.sql(
      s"""CREATE TABLE gone USING `firesteel-jdbc`
         |OPTIONS (url '$url', dbtable 'gone', user 'sa', password '$password')""".stripMargin)
    try {
      execute("DROP TABLE gone")
      assert(spark.table("gone").columns === Array("ID"))
    } finally { val _ = spark.sql("DROP TABLE gone") }
  }

  test("the engine can read the lookup options, and nothing else, from the table") {
    val t = table("dbtable" -> "customers", "LOOKUP.cache" -> "PARTIAL", "lookup.batch-size" -> "5")
    assert(
      t.properties() ===
        java.util.Map.of("lookup.cache", "PARTIAL", "lookup.batch-size", "5"))
  }

  test("no command and no plan shows the password") {
    val commands = Seq(
      "DESCRIBE EXTENDED customers",
      "SHOW CREATE TABLE customers",
      "SHOW TBLPROPERTIES customers",
      "EXPLAIN EXTENDED SELECT * FROM customers",
      "EXPLAIN FORMATTED SELECT * FROM customers",
      "EXPLAIN EXTENDED SELECT * FROM loaded",
      "EXPLAIN CODEGEN SELECT * FROM loaded",
      "EXPLAIN COST SELECT * FROM loaded",
      s"""EXPLAIN FORMATTED CREATE TABLE other USING `firesteel-jdbc`
         |OPTIONS (url '$url', dbtable 'customers', user 'sa', password '$password')""".stripMargin
    )
    commands.foreach { command =>
      val shown = spark.sql(command).collect().map(_.toString).mkString("\n")
      assert(!shown.contains(password), shown)
    }
    val execution = executionOf(spark.table("loaded"))
    assert(!execution.toString.contains(password))
  }

  test("a driver's own options reach it, Spark's and ours do not") {
    val t = table(
      "dbtable" -> "customers",
      "fetchsize" -> "10",
      "lookup.max-retries" -> "1",
      "IGNORECASE" -> "TRUE")
    assert(rows(t, Seq("ID"), Seq("NAME"))(Seq(3)) === Seq(Row("Bob")))
  }

  test("an initial statement and a preparing one run before the lookup") {
    execute("CREATE TABLE seen (n INT)")
    val t = table("dbtable" -> "customers", "sessionInitStatement" -> "INSERT INTO seen VALUES (1)")
    assert(rows(t, Seq("ID"), Seq("NAME"))(Seq(3)) === Seq(Row("Bob")))
    val seen = spark.read.format("jdbc").options(login + ("dbtable" -> "seen")).load()
    assert(seen.count() >= 1)
    val prepared = tableOf(login ++ Map(
      "query" -> "SELECT * FROM w",
      "prepareQuery" -> "WITH w AS (SELECT id, name FROM customers)"))
    assert(rows(prepared, Seq("ID"), Seq("NAME"))(Seq(1)) === Seq(Row("Ada")))
  }
}
