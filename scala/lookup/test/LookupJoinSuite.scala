package io.firesteel.lookup

import io.firesteel.core.decide.Explain
import io.firesteel.core.errors.FiresteelException
import io.firesteel.testkit.TestSize
import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper

class LookupJoinSuite extends LookupSuite with AdaptiveSparkPlanHelper {

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .range(0, 1000, 1, 4)
      .selectExpr(
        "id",
        "if(id % 7 = 0, null, id % 100) AS customer_id",
        "if(id % 3 = 0, 'x', 'y') AS type",
        "CAST(id AS STRING) AS text",
        "timestamp_seconds(id) AS at")
      .createOrReplaceTempView("orders")
  }

  private def customers: DataFrame =
    spark.range(0, 80).selectExpr(
      "id",
      "if(id % 2 = 0, 'x', 'y') AS type",
      "concat('c', id) AS country",
      "CAST(id AS INT) AS small",
      "named_struct('a', id, 'b', array(id, id + 1)) AS nested"
    )

  private val inner = "SELECT {hint} o.id, o.customer_id, c.country, c.nested FROM orders o " +
    "JOIN {c} c ON o.customer_id = c.id"
  private val left = inner.replace(" JOIN", " LEFT JOIN")

  private def values(data: DataFrame): Map[String, String] =
    Explain.of(executed(data)).fired.head.values

  test("INNER and LEFT give what a plain join gives, asking each key once per task") {
    Seq(inner, left).foreach { sql =>
      val asked = store("customers", customers)
      val joined = assertJoins(sql, "customers")
      assert(values(joined)("lookup").startsWith("id="))
      assert(asked.keysAsked.forall(_ != "null"))
      assert(asked.requests <= 4 && asked.keysAsked.length <= 400)
      assert(asked.closed.get == asked.opened.size && asked.opened.size == 4)
    }
  }

  test("every way of asking gives the same rows") {
    val random = new scala.util.Random(0)
    val every = for {
      async <- Seq(false, true)
      shuffle <- Seq(false, true)
      cache <- Seq("NONE", "PARTIAL")
      batch <- Seq(1, 7, 1000)
      mode <- Seq("ordered", "allow_unordered")
    } yield (async, shuffle, cache, batch, mode)
    random.shuffle(every).take(TestSize.cases(6)).foreach {
      case (async, shuffle, cache, batch, mode) =>
        store(
          "customers",
          customers.union(customers.where("id % 5 = 0").selectExpr(
            "id",
            "type",
            "concat(country, '2')",
            "small",
            "nested")),
          StoreBehaviour(async = async),
          Map("lookup.cache" -> cache, "lookup.partial-cache.max-rows" -> "30")
        )
        val hint = s"/*+ LOOKUP(('table'='c'), ('shuffle'='$shuffle'), ('output-mode'='$mode'), " +
          s"('lookup.batch-size'='$batch'), ('async'='$async'), ('capacity'='3')) */"
        assertJoins(left, "customers", hint)
        assertJoins(inner + " AND c.type = o.type WHERE c.id > 3", "customers", hint)
    }
  }

  test("several keys, constants, casts, other predicates and computed values") {
    val asked = store("customers", customers)
    Seq(
      "SELECT * FROM orders o JOIN {c} c ON o.customer_id = c.id AND o.type = c.type",
      "SELECT * FROM orders o LEFT JOIN {c} c ON o.customer_id = c.id AND c.type = 'x'",
      "SELECT o.id, c.id FROM orders o JOIN {c} c ON c.small = o.customer_id",
      "SELECT o.id, c.id FROM orders o LEFT JOIN {c} c ON c.small = o.id * 1000000000",
      "SELECT o.id, c.id FROM orders o LEFT JOIN {c} c ON c.id = o.text AND c.id < o.id / 2",
      "SELECT o.id, c.country FROM orders o LEFT JOIN {c} c ON c.id = o.customer_id + 1 " +
        "AND o.type = 'x' AND c.country LIKE 'c1%'",
      "SELECT count(*) FROM orders o JOIN {c} c ON c.id = o.customer_id WHERE c.type = 'y'",
      "SELECT o.id FROM orders o, {c} c WHERE o.customer_id = c.id",
      "SELECT a.id, b.country, c.country FROM orders a JOIN {c} b ON a.customer_id = b.id " +
        "LEFT JOIN {c} c ON a.id = c.id",
      "SELECT id, country FROM orders JOIN (SELECT id AS k, upper(country) country FROM {c}) " +
        "ON k = customer_id",
      "SELECT * FROM orders JOIN {c} USING (id)"
    ).foreach(sql => assertJoins(sql, "customers"))
    assert(asked.requests > 0)
  }

  test("a column is asked for only when it is wanted, and filters are offered") {
    val asked = store("customers", customers)
    assertJoins(
      "SELECT o.id, c.country FROM orders o JOIN {c} c ON o.customer_id = c.id " +
        "WHERE c.type = 'x'",
      "customers")
    val context = asked.contexts.peek()
    assert(context.columns.fieldNames.toSeq == Seq("id", "type", "country"))
    assert(context.keys.fieldNames.toSeq == Seq("id", "type"))
    assert(context.filters.map(_.toString).exists(_.contains("type")))
  }

  test("a custom shuffle sends each key to its task, which is not coalesced") {
    Seq(true, false).foreach { adaptive =>
      withConf(
        "spark.sql.adaptive.enabled" -> adaptive,
        LookupConf.SHUFFLE_PARTITIONS.key -> 4) {
        val asked = store("customers", customers, partitioner = Some(LastDigit))
        val joined =
          assertJoins(left, "customers", "/*+ LOOKUP(('table'='c'), ('shuffle'='true')) */")
        assert(values(joined)("shuffle") == "custom: LastDigit into 4")
        assert(asked.contexts.peek().customShuffle && asked.contexts.peek().numPartitions == 4)
        assert(asked.keysAsked.length == asked.keysAsked.distinct.length)
        assert(collect(executed(joined)) { case e: ShuffleExchangeLike => e }
          .exists(_.numPartitions == 4))
        import scala.jdk.CollectionConverters._
        val tasks = asked.opened.asScala.toSeq
        assert(tasks.map(_.index).toSet == Set(0, 1, 2, 3) && tasks.forall(_.count == 4))
      }
    }
  }

  test("without a partitioner shuffle=true is a shuffle by hash, and the plan says so") {
    val asked = store("customers", customers)
    val joined = assertJoins(inner, "customers", "/*+ LOOKUP(('table'='c'), ('shuffle'='true')) */")
    assert(values(joined)("shuffle") == "hash: the connector has no partitioner")
    assert(asked.keysAsked.length == asked.keysAsked.distinct.length)
  }

  test("a partition that does not exist is an error with connector, key, number and range") {
    store("customers", customers, partitioner = Some(Astray))
    val thrown = failure(inner, "/*+ LOOKUP(('table'='c'), ('shuffle'='true')) */")
    assert(thrown.getCondition == "FIRESTEEL_LOOKUP_BAD_PARTITION")
    Seq("customers", "-1", "from 0 to 2").foreach(text => assert(thrown.getMessage.contains(text)))
  }

  test("a store that fails, hangs or answers nonsense fails the query and is named") {
    def condition(behaviour: StoreBehaviour, hint: String = ""): FiresteelException = {
      store("customers", customers, behaviour)
      failure(inner.replace("orders o", "(SELECT * FROM orders WHERE id < 60) o"), hint)
    }
    Seq(true, false).foreach { async =>
      val failed = condition(StoreBehaviour(failures = 99, async = async))
      assert(failed.getCondition == "FIRESTEEL_LOOKUP_FAILED")
      assert(
        failed.getMessage.contains("the store is on fire") && failed.getMessage.contains("id = "))
      val hint = "/*+ LOOKUP(('table'='c'), ('timeout'='300ms')) */"
      val hung = condition(StoreBehaviour(hangs = true, async = async), hint)
      assert(
        hung.getCondition == "FIRESTEEL_LOOKUP_TIMED_OUT" && hung.getMessage.contains("300 ms"))
      assert(condition(StoreBehaviour(otherKeys = true, async = async)).getCondition ==
        "FIRESTEEL_LOOKUP_KEY_NOT_ASKED")
      assert(condition(StoreBehaviour(columnsMissing = true, async = async)).getCondition ==
        "FIRESTEEL_LOOKUP_WRONG_COLUMNS")
    }
  }

  test("a miss is asked again as the hint says, and under the cache") {
    val hint = "/*+ LOOKUP(('table'='c'), ('retry-predicate'='lookup_miss'), " +
      "('retry-strategy'='fixed_delay'), ('fixed-delay'='10ms'), ('max-attempts'='3')) */"
    Seq(true, false).foreach { async =>
      store("customers", customers, StoreBehaviour(missesFirst = 2, async = async))
      val few = inner.replace("FROM orders o", "FROM (SELECT * FROM orders WHERE id < 50) o")
      withConf("spark.sql.files.maxPartitionBytes" -> "1g") {
        val joined = spark.sql(few.replace("{c}", "mem.customers").replace("{hint}", hint))
        val theirs = spark.sql(few.replace("{c}", "customers").replace("{hint}", ""))
        assertSameRows(joined.collect().toSeq, theirs.collect().toSeq, "retry")
        assert(values(joined)("retry") == "lookup_miss, FIXED_DELAY, 10ms, 3")
      }
    }
  }

  test("a PARTIAL cache is shared by the tasks of a query and not by later queries") {
    val asked = store(
      "customers",
      customers,
      options = Map("lookup.cache" -> "PARTIAL", "lookup.partial-cache.max-rows" -> "1000"))
    withConf("spark.sql.adaptive.enabled" -> false) {
      spark.range(0, 1000, 1, 1).selectExpr(
        "id % 50 AS customer_id",
        "id").createOrReplaceTempView("one")
      val sql = "SELECT {hint} * FROM (SELECT * FROM one UNION ALL SELECT * FROM one) o " +
        "JOIN {c} c ON o.customer_id = c.id"
      assertJoins(sql, "customers")
      // Two tasks at once may both miss a key; neither misses it twice.
      assert(asked.keysAsked.length <= 100)
      val before = asked.keysAsked.length
      assertJoins(sql, "customers")
      assert(asked.keysAsked.length > before)
    }
  }

  test("subqueries about the dimension's columns") {
    store("customers", customers)
    table("country STRING, rank INT", Row("c1", 1), Row("c2", 2), Row("c40", 3), Row(null, 4))
      .createOrReplaceTempView("lands")
    val known = "SELECT country FROM lands WHERE country IS NOT NULL"
    val conditions = Seq(
      s"c.country IN ($known)",
      s"c.country NOT IN ($known)",
      "c.country NOT IN (SELECT country FROM lands)",
      "upper(c.country) IN (SELECT upper(country) FROM lands) AND c.id < 50",
      "EXISTS (SELECT 1 FROM lands s WHERE s.country = c.country)",
      "NOT EXISTS (SELECT 1 FROM lands s WHERE s.country = c.country AND s.rank > 1)",
      s"(c.country IN ($known) OR c.type = 'x')",
      "c.id > (SELECT sum(rank) FROM lands s WHERE s.country = c.country)",
      s"c.country IN ($known) AND EXISTS (SELECT 1 FROM lands s WHERE s.rank = c.small)",
      "c.small > (SELECT min(rank) FROM lands)",
      "EXISTS (SELECT 1 FROM lands s WHERE s.country = c.country AND s.rank < o.id)"
    )
    conditions.foreach(condition => assertJoins(s"$inner WHERE $condition", "customers"))
    assertJoins(s"$left WHERE c.country IN ($known)", "customers")
    assertJoins(s"$left WHERE c.country IS NULL OR c.country NOT IN ($known)", "customers")
    assertJoins(s"$inner LEFT SEMI JOIN lands s ON s.country = c.country", "customers")
    assertJoins(s"$inner LEFT ANTI JOIN lands s ON s.country = c.country", "customers")
    val below =
      "(SELECT c.id, concat(c.type, '!') AS type, c.country, c.nested, s.rank FROM {c} c " +
        "JOIN lands s ON s.country = c.country WHERE c.id < 70)"
    Seq("", " AND d.type > o.type", " AND d.rank < o.id", " AND d.rank + c.id > o.id").foreach {
      more =>
        assertJoins(
          s"SELECT o.id, d.* FROM orders o JOIN $below d ON o.customer_id = d.id" +
            more.replace("c.id", "d.id"),
          "customers")
    }
  }

  test("a plan with a subquery above the lookup is one that adaptive execution can go on with") {
    store("customers", customers)
    Seq("true", "false").foreach { adaptive =>
      withConf(
        "spark.sql.adaptive.enabled" -> adaptive,
        "spark.sql.autoBroadcastJoinThreshold" -> "-1") {
        assertJoins(
          s"$inner WHERE c.country IN (SELECT country FROM customers WHERE id < 9)",
          "customers",
          "/*+ LOOKUP(('table'='c'), ('shuffle'='true')) */")
      }
    }
  }

  test("lookups of different columns are not taken for each other") {
    store("customers", customers)
    val joined = "FROM orders o JOIN {c} c ON o.customer_id = c.id"
    val other = "FROM orders o JOIN {c} c ON o.customer_id = c.small"
    val queries = Seq(
      s"SELECT c.country AS v, count(*) AS n $joined GROUP BY c.country UNION ALL " +
        s"SELECT c.type AS v, count(*) AS n $joined GROUP BY c.type",
      s"SELECT (SELECT max(c.country) $joined) AS a, (SELECT max(c.type) $joined) AS b",
      s"SELECT c.id AS v, count(*) AS n $joined GROUP BY c.id UNION ALL " +
        s"SELECT c.id AS v, count(*) AS n ${joined.replace("c.id", "c.small + 0")} AND c.id = o.id GROUP BY c.id",
      s"SELECT c.type AS v, count(*) AS n $joined GROUP BY c.type UNION ALL " +
        s"SELECT c.type AS v, count(*) AS n $other GROUP BY c.type",
      s"SELECT c.id AS v, count(*) AS n $joined GROUP BY c.id UNION ALL " +
        s"SELECT c.id AS v, count(*) AS n $joined GROUP BY c.id"
    )
    Seq("true", "false").foreach { adaptive =>
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        queries.foreach(assertJoins(_, "customers"))
      }
    }
  }

  test("a limit above a custom shuffle stays, though rows have several matches") {
    store(
      "customers",
      customers.union(customers).union(customers),
      partitioner = Some(LastDigit))
    Seq("true", "false").foreach { adaptive =>
      withConf("spark.sql.adaptive.enabled" -> adaptive, LookupConf.SHUFFLE_PARTITIONS.key -> 4) {
        val sql = "SELECT /*+ LOOKUP(('table'='c'), ('shuffle'='true')) */ o.id, c.country FROM " +
          "(SELECT * FROM orders WHERE id IN (1, 2, 3)) o JOIN mem.customers c ON o.customer_id = c.id"
        assert(spark.sql(sql).collect().length == 9)
        assert(spark.sql(s"$sql LIMIT 4").collect().length == 4)
        assert(spark.sql(s"SELECT DISTINCT id FROM ($sql)").collect().length == 3)
      }
    }
  }

  test("equal lookups are still done once") {
    val asked = store("customers", customers)
    val one = "SELECT c.country AS v, count(*) AS n FROM orders o JOIN {c} c " +
      "ON o.customer_id = c.id GROUP BY c.country"
    assertJoins(s"$one UNION ALL $one", "customers")
    assert(asked.opened.size == 4)
  }

  test("a table partitioned by what it is joined by") {
    spark.sql("CREATE TABLE sales (id BIGINT, customer_id BIGINT) USING parquet " +
      "PARTITIONED BY (customer_id)")
    spark.sql("INSERT INTO sales SELECT id, id % 5 FROM range(50)")
    store("customers", customers)
    customers.write.mode("overwrite").saveAsTable("read_whole")
    Seq("true", "false").foreach { adaptive =>
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        assertJoins(
          "SELECT s.id, c.country FROM sales s JOIN {c} c ON s.customer_id = c.id " +
            "WHERE c.type = 'x' AND s.id > 3",
          "customers")
        assertJoins(
          "SELECT c.country, count(*) FROM sales s JOIN {c} c ON s.customer_id = c.id " +
            "JOIN orders o ON o.id = s.id WHERE c.type = 'x' GROUP BY c.country",
          "customers"
        )
        val full = "SELECT {hint} s.id, c.country FROM sales s JOIN read_whole c " +
          "ON s.customer_id = c.id WHERE c.type = 'x'"
        assertSameRows(
          spark.sql(full.replace("{hint}", "/*+ LOOKUP(('table'='c')) */")).collect().toSeq,
          stock(spark.sql(full.replace("{hint}", "")).collect().toSeq),
          full)
      }
    }
  }

  test("each partition of one task has a function of its own, closed after its last row") {
    val asked = store("customers", customers)
    val found = spark.sql("SELECT o.id, c.country FROM orders o JOIN mem.customers c " +
      "ON o.customer_id = c.id").coalesce(1)
    assert(found.rdd.getNumPartitions == 1)
    val most = new java.util.concurrent.atomic.AtomicInteger
    found.foreachPartition { (rows: Iterator[Row]) =>
      rows.foreach { _ =>
        val store = MemoryStores.get("customers").get
        val _ = most.accumulateAndGet(store.opened.size - store.closed.get, math.max(_, _))
      }
    }
    assert(asked.opened.size == 4 && asked.closed.get == 4)
    assert(most.get <= 1)
  }

  test("FULL loads a table whole, once, whatever Spark can read") {
    customers.createOrReplaceTempView("plain")
    val joined = spark.sql(
      "SELECT /*+ LOOKUP(('table'='c')) */ o.id, c.country FROM orders o " +
        "LEFT JOIN plain c ON o.customer_id = c.id AND c.type = 'x'")
    val theirs = stock(spark.sql("SELECT o.id, c.country FROM orders o " +
      "LEFT JOIN plain c ON o.customer_id = c.id AND c.type = 'x'").collect().toSeq)
    assertSameRows(joined.collect().toSeq, theirs, "full")
    assert(values(joined)("cache") == "FULL")
  }

  test("FULL by a constant; a key with a subquery is refused") {
    customers.createOrReplaceTempView("plain")
    val refused = intercept[AnalysisException](spark.sql(
      "SELECT /*+ LOOKUP('table'='c') */ o.id FROM orders o JOIN plain c " +
        "ON o.customer_id = c.id + (SELECT max(id) FROM range(3))").collect())
    assert(refused.getCondition == "FIRESTEEL_LOOKUP_NO_KEY")
    Seq(true, false).foreach { adaptive =>
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        Seq(
          "FROM orders o LEFT JOIN plain c ON c.id = 5",
          "FROM orders o JOIN plain c ON c.id = 5 AND o.id > 3",
          "FROM orders o LEFT JOIN plain c ON c.id = 5 AND o.customer_id < length(c.country)",
          "FROM (SELECT id, 7 AS customer_id FROM orders) o JOIN plain c ON o.customer_id = c.id"
        ).foreach { from =>
          val joined = spark.sql(s"SELECT /*+ LOOKUP('table'='c') */ o.id, c.country $from")
          val theirs = stock(spark.sql(s"SELECT o.id, c.country $from").collect().toSeq)
          assertSameRows(joined.collect().toSeq, theirs, from)
          assert(values(joined)("cache") == "FULL", from)
        }
      }
    }
  }

  test("what cannot be looked up is refused, naming what was written") {
    store("customers", customers)
    def refused(sql: String): String =
      intercept[AnalysisException](
        spark.sql(sql.replace("{c}", "mem.customers")).collect()).getCondition
        .stripPrefix("FIRESTEEL_LOOKUP_")
    val join = "SELECT * FROM orders o JOIN {c} c ON"
    assert(refused(join.replace("JOIN", "RIGHT JOIN") + " o.id = c.id") == "UNSUPPORTED_JOIN")
    assert(refused(join.replace("JOIN", "FULL JOIN") + " o.id = c.id") == "UNSUPPORTED_JOIN")
    assert(refused(join + " o.id <=> c.id") == "NO_KEY")
    assert(refused(join + " o.id > c.id") == "NO_KEY")
    assert(refused("SELECT * FROM {c}") == "NOT_SCANNABLE")
    assert(refused("SELECT * FROM {c} c JOIN orders o ON o.id = c.id") == "NOT_SCANNABLE")
    def hinted(options: String): String =
      refused(s"SELECT /*+ LOOKUP($options) */ * FROM orders o JOIN {c} c ON o.id = c.id")
    assert(hinted("('table'='c'), ('time-out'='3s')") == "UNKNOWN_OPTION")
    assert(hinted("('table'='c'), ('timeout'='soon')") == "BAD_OPTION")
    assert(hinted("('table'='c'), ('capacity'='0')") == "BAD_OPTION")
    assert(hinted("('table'='c'), ('max-attempts'='3')") == "INCOMPLETE_RETRY")
    assert(hinted("('table'='d')") == "TABLE_NOT_JOINED")
    assert(hinted("('table'='customers')") == "TABLE_NOT_JOINED")
    assert(hinted("('table'='o')") == "TABLE_NOT_JOINED")
    assert(hinted("'table'") == "MALFORMED_HINT")
    assert(hinted("('table'='c'), ('lookup.cache'='PARTIAL')") == "UNBOUNDED_CACHE")
    assert(hinted("('table'='c'), ('lookup.cache'='FULL')") == "FULL_NOT_SCANNABLE")
  }

  test("AS OF a column is a lookup, and the column must exist and be a time") {
    store("customers", customers)
    def asOf(column: String) = "SELECT o.id, c.country FROM orders o JOIN {c} " +
      s"TIMESTAMP AS OF $column AS c ON o.customer_id = c.id"
    val plain = "SELECT o.id, c.country FROM orders o JOIN customers c ON o.customer_id = c.id"
    Seq("o.at", "`at`", "date_trunc('HOUR', o.at)").foreach { column =>
      val sql = asOf(column).replace("{c}", "mem.customers")
      assertSameRows(spark.sql(sql).collect().toSeq, spark.sql(plain).collect().toSeq, sql)
    }
    def refused(column: String) = intercept[AnalysisException](
      spark.sql(asOf(column).replace("{c}", "mem.customers"))).getCondition
    assert(refused("o.nothing") == "FIRESTEEL_LOOKUP_UNKNOWN_TIME_COLUMN")
    assert(refused("o.type") == "FIRESTEEL_LOOKUP_NOT_A_TIME")
    val now = asOf("current_timestamp()").replace("{c}", "mem.customers")
    assertSameRows(spark.sql(now).collect().toSeq, spark.sql(plain).collect().toSeq, now)
  }

  test("Flink's text works verbatim, also in a view") {
    val asked = store("customers", customers)
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW customers_only AS SELECT * FROM mem.customers")
    val flink =
      """SELECT /*+ LOOKUP('table'='c', 'shuffle'='true', 'async'='true', 'retry-predicate'='lookup_miss',
        |                  'retry-strategy'='fixed_delay', 'fixed-delay'='1ms', 'max-attempts'='3') */
        |  o.id, c.country
        |FROM orders AS o JOIN customers_only FOR SYSTEM_TIME AS OF o.at AS c ON o.customer_id = c.id
        |""".stripMargin
    val plain = spark.sql("SELECT o.id, c.country FROM orders o JOIN customers c " +
      "ON o.customer_id = c.id").collect().toSeq
    val joined = spark.sql(flink)
    assertSameRows(joined.collect().toSeq, plain, flink)
    assert(values(joined)("retry").contains("lookup_miss") && asked.requests > 0)
    spark.sql(s"CREATE OR REPLACE TEMPORARY VIEW enriched AS $flink")
    assertSameRows(spark.table("enriched").collect().toSeq, plain, "view")
    assertSameRows(
      spark.sql(flink.replace("o.at", "current_timestamp()")).collect().toSeq,
      plain,
      "as of now")
  }

  test("awkward keys: NaN, zeros, null, decimals, text, binary, dates and empty input") {
    val d = "k DOUBLE, n DECIMAL(10,2), s STRING, b BINARY, t DATE, v INT"
    def row(k: Any, n: String, s: String, v: Int) = Row(
      k,
      if (n == null) null else new java.math.BigDecimal(n),
      s,
      if (s == null) null else s.getBytes,
      if (s == null) null else java.sql.Date.valueOf("2026-01-01"),
      v)
    val rows = Seq(
      row(0.0, "1.50", "a", 1),
      row(-0.0, "1.50", "", 2),
      row(Double.NaN, null, null, 3),
      row(null, "-9.99", "a", 4),
      row(1.5, "1.50", "b", 5))
    table(d, rows: _*).createOrReplaceTempView("awkward")
    store("odd", table(d, rows: _*).union(table(d, rows.take(2): _*)))
    Seq("k", "n", "s", "b", "t").foreach { key =>
      assertJoins(s"SELECT * FROM awkward a JOIN {c} c ON a.$key = c.$key", "odd")
      assertJoins(s"SELECT a.v, c.v FROM awkward a LEFT JOIN {c} c ON a.$key = c.$key", "odd")
    }
    assertJoins("SELECT * FROM awkward a LEFT JOIN {c} c ON a.k = c.k AND a.s = c.s", "odd")
    assertJoins("SELECT * FROM awkward a JOIN {c} c ON a.s = c.s AND c.k = 0.0D", "odd")
    assertJoins("SELECT * FROM awkward a LEFT JOIN {c} c ON a.s = c.s AND c.k = -0.0D", "odd")
    assertJoins("SELECT * FROM awkward a LEFT JOIN {c} c ON c.s = 'a' AND a.v > c.v", "odd")
    assertJoins(
      "SELECT {hint} a.v, c.v FROM awkward a JOIN {c} c ON a.s = c.s AND c.v > (SELECT min(v) FROM odd)",
      "odd",
      "/*+ LOOKUP('table'='c', 'lookup.cache'='PARTIAL', 'lookup.partial-cache.max-rows'='9') */"
    )
    assertJoins(
      "SELECT * FROM (SELECT * FROM awkward WHERE v > 9) a JOIN {c} c ON a.k = c.k",
      "odd")
    store("empty", table(d))
    assertJoins("SELECT * FROM awkward a LEFT JOIN {c} c ON a.k = c.k", "empty")
  }

  test("switched off, a hint is ignored and what only a lookup can read is refused") {
    customers.createOrReplaceTempView("plain")
    store("customers", customers)
    withConf(LookupConf.ENABLED.key -> false) {
      val hinted =
        spark.sql("SELECT /*+ LOOKUP(('table'='c')) */ * FROM orders o JOIN plain c ON o.id = c.id")
      assert(Explain.of(executed(hinted)).fired.isEmpty)
      assert(hinted.count() == 80)
    }
  }

  test("a switch counts for what is planned after it, whenever it was analysed, and in views") {
    customers.createOrReplaceTempView("plain")
    store("customers", customers)
    val hinted = "SELECT /*+ LOOKUP('table'='c') */ c.* FROM orders o JOIN plain c ON o.id = c.id"
    val view = s"CREATE OR REPLACE TEMP VIEW looked_up AS $hinted"
    def isLookup(query: DataFrame) = Explain.of(executed(query)).fired.nonEmpty
    val (whole, stored) = (spark.sql(hinted), spark.sql(hinted.replace("plain", "mem.customers")))
    spark.sql(view)
    assert(isLookup(spark.table("looked_up")))
    withConf(LookupConf.ENABLED.key -> false) {
      Seq(whole, spark.table("looked_up")).foreach { query =>
        assert(!isLookup(query), executed(query))
        assert(query.count() == 80)
      }
      val refused = intercept[Exception](executed(stored)).getMessage
      assert(refused.contains("customers"))
      spark.sql(view)
    }
    assert(isLookup(spark.table("looked_up")))
  }

  private def failure(sql: String, hint: String): FiresteelException = {
    val thrown = intercept[Exception](
      spark.sql(sql.replace("{c}", "mem.customers").replace("{hint}", hint)).collect())
    Iterator
      .iterate[Throwable](thrown)(_.getCause)
      .takeWhile(_ != null)
      .collectFirst { case ours: FiresteelException => ours }
      .getOrElse(throw thrown)
  }
}

object LastDigit extends InputDataPartitioner {
  override def partition(
      joinKeys: org.apache.spark.sql.catalyst.InternalRow,
      numPartitions: Int): Int = (joinKeys.getLong(0) % numPartitions).toInt
}

object Astray extends InputDataPartitioner {
  override def partition(
      joinKeys: org.apache.spark.sql.catalyst.InternalRow,
      numPartitions: Int): Int = -1
}
