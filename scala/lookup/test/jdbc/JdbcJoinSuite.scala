package io.firesteel.lookup.jdbc

import io.firesteel.core.decide.Explain
import io.firesteel.lookup.LookupConf

/** Joins with `firesteel-jdbc` have the rows of Spark's own join with its JDBC source. */
class JdbcJoinSuite extends JdbcSuite {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    execute(
      """CREATE TABLE customers
        |  (id INT, country VARCHAR(9), name VARCHAR(9), since DATE,
        |   score DOUBLE PRECISION)""".stripMargin,
      """INSERT INTO customers
        |SELECT x, CASE MOD(x, 3) WHEN 0 THEN 'CH' WHEN 1 THEN 'ch' END, 'name ' || x,
        |  DATEADD('DAY', MOD(x, 50), DATE '2024-01-01'), x / 4.0
        |FROM system_range(1, 500)""".stripMargin,
      "INSERT INTO customers SELECT id, country, 'again', since, -0.0 FROM customers WHERE id < 50",
      "INSERT INTO customers VALUES (NULL, 'CH', 'nobody', NULL, NULL)",
      "CREATE INDEX by_id ON customers (id)"
    )
    val options = login + ("dbtable" -> "customers")
    spark.read.format("firesteel-jdbc").options(options).load().createTempView("customers")
    spark.read.format("jdbc").options(options).load().createTempView("plain")
    spark
      .range(0, 2000, 1, 4)
      .selectExpr(
        "id",
        "if(id % 9 = 0, null, CAST(id % 700 AS INT)) AS customer",
        "if(id % 2 = 0, 'CH', 'ch') AS country",
        "date_add(date'2024-01-01', CAST(id % 70 AS INT)) AS day"
      )
      .createTempView("orders")
  }

  /** Views of a table of the database: of ours, and of Spark's own source as `plain_` and its name. */
  private def createViews(table: String): Unit =
    Seq("firesteel-jdbc" -> table, "jdbc" -> s"plain_$table").foreach { case (format, view) =>
      spark.read.format(format).options(login + ("dbtable" -> table)).load()
        .createOrReplaceTempView(view)
    }

  test("a column of padded text is a key") {
    execute(
      "CREATE TABLE padded (k CHAR(5), n INT)",
      "INSERT INTO padded VALUES ('CH', 1), ('x', 2)")
    createViews("padded")
    def sql(hint: String, dimension: String) =
      s"SELECT $hint o.id, c.n FROM orders o JOIN $dimension c ON rpad(o.country, 5) = c.k"
    assertSameRows(
      spark.sql(sql("/*+ LOOKUP('table'='c') */", "padded")).collect().toSeq,
      spark.sql(sql("", "plain_padded")).collect().toSeq,
      "CHAR")
    assert(spark.sql(sql("/*+ LOOKUP('table'='c') */", "padded")).count() > 0)
  }

  test("a store that ignores case, asked again for what it has answered by another key") {
    execute(
      "CREATE TABLE ignoring (k VARCHAR_IGNORECASE(9), n INT)",
      "INSERT INTO ignoring VALUES ('CH', 1), ('it', 2)")
    createViews("ignoring")
    def sql(hint: String, dimension: String) =
      s"SELECT $hint o.id, c.n FROM orders o LEFT JOIN $dimension c ON o.country = c.k"
    val again = "/*+ LOOKUP('table'='c', 'retry-predicate'='lookup_miss', " +
      "'retry-strategy'='fixed_delay', 'fixed-delay'='1ms', 'max-attempts'='3') */"
    val theirs = spark.sql(sql("", "plain_ignoring")).collect().toSeq
    assertSameRows(spark.sql(sql(again, "ignoring")).collect().toSeq, theirs, "asked again")
  }

  test("a column of CHAR that the database does not pad, of a table by its name") {
    val url = "jdbc:h2:mem:unpadded;MODE=MySQL;DB_CLOSE_DELAY=-1"
    val database = java.sql.DriverManager.getConnection(url)
    try {
      val _ = database.createStatement().execute(
        "CREATE TABLE people (id INT, k CHAR(5)); INSERT INTO people VALUES (1, 'CH'), (2, 'x')")
    } finally database.close()
    Seq("ours" -> "firesteel-jdbc", "plain" -> "jdbc").foreach { case (name, format) =>
      spark.sql(s"DROP TABLE IF EXISTS people_$name")
      spark.sql(
        s"CREATE TABLE people_$name USING `$format` OPTIONS (url '$url', dbtable 'people')")
    }
    Seq("o.id = c.id", "o.id = c.id AND c.k = 'CH'", "rpad(o.country, 5) = c.k", "o.country = c.k")
      .foreach { on =>
        def sql(hint: String, name: String) =
          s"SELECT $hint o.id, c.k, length(c.k) FROM orders o LEFT JOIN people_$name c ON $on"
        val theirs = spark.sql(sql("", "plain")).collect().toSeq
        assertSameRows(
          spark.sql(sql("/*+ LOOKUP('table'='c') */", "ours")).collect().toSeq,
          theirs,
          on)
      }
    def byName(hint: String, name: String) =
      s"SELECT $hint x.d, c.k FROM (SELECT 1 AS id, 2 AS d) x JOIN people_$name c USING (id) " +
        "WHERE c.k = 'CH'"
    assertSameRows(
      spark.sql(byName("/*+ LOOKUP('table'='c') */", "ours")).collect().toSeq,
      spark.sql(byName("", "plain")).collect().toSeq,
      "USING")
    spark.sql("DROP TABLE people_ours")
    val _ = spark.sql("DROP TABLE people_plain")
  }

  private val joins = Seq(
    "o.customer = c.id",
    "o.customer = c.id AND o.country = c.country",
    "o.customer = c.id AND c.country = 'CH'",
    "o.customer = c.id AND c.score > 10 AND c.name LIKE 'name 1%'",
    "o.customer = c.id AND o.day < c.since",
    "o.customer = c.id AND o.day = c.since",
    "o.customer + 1 = c.id"
  )

  private def assertSameAsSpark(join: String, condition: String, hint: String): Unit = {
    def sql(mark: String, dimension: String) =
      s"SELECT $mark o.id, c.id AS cid, c.country, c.name, c.since FROM orders o " +
        s"$join $dimension c ON $condition"
    val ours = spark.sql(sql(s"/*+ LOOKUP('table'='c'$hint) */", "customers"))
    val theirs = stock(spark.sql(sql("", "plain")).collect().toSeq)
    assertSameRows(ours.collect().toSeq, theirs, s"$join ON $condition $hint")
    val _ = assert(Explain.of(executed(ours)).fired.nonEmpty)
  }

  test("joined by one key or several, with and without other conditions, inner and left") {
    for (join <- Seq("JOIN", "LEFT JOIN"); condition <- joins)
      assertSameAsSpark(join, condition, "")
  }

  test("joined with each kind of cache, synchronously and not, in small batches and large") {
    val caches = Seq(
      "",
      ", 'lookup.cache'='PARTIAL', 'lookup.partial-cache.max-rows'='100'",
      ", 'lookup.cache'='FULL'")
    for (cache <- caches; async <- Seq("true", "false"); batch <- Seq(1, 7, 5000)) {
      if (batch > 1 || cache.contains("PARTIAL")) {
        withConf(LookupConf.BATCH_SIZE.key -> batch) {
          assertSameAsSpark("LEFT JOIN", joins(1), s"$cache, 'async'='$async'")
        }
      }
    }
  }

  test("shuffled by hash of the keys") {
    assertSameAsSpark("JOIN", joins.head, ", 'shuffle'='true'")
  }

  test("no plan of a join shows the password") {
    val joined = spark.sql(
      "SELECT /*+ LOOKUP('table'='c') */ o.id, c.name " +
        "FROM orders o JOIN customers c ON o.customer = c.id")
    joined.collect()
    val execution = org.apache.spark.sql.firesteel.executionOf(joined)
    val texts = Seq(
      execution.toString,
      execution.analyzed.treeString,
      execution.optimizedPlan.treeString,
      executed(joined).treeString,
      executed(joined).toJSON,
      execution.analyzed.toJSON
    )
    texts.foreach(text => assert(!text.contains(password)))
  }
}
