package io.firesteel.shuffle

import io.firesteel.core.decide.{Declined, Explain}
import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.types.StructType

/** When the remaining keys are good enough: by statistics, by a sample, and without both. */
class KeyGateSuite extends ShuffleSuite {

  // With this the bound counts all partitions; another test covers the partitions that adaptive
  // execution leaves.
  override protected def settings: Map[String, String] =
    Map("spark.sql.adaptive.coalescePartitions.enabled" -> "false")

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .sql("""SELECT id % 20 AS few, id % 4000 AS many, IF(id % 3 = 0, 0, id % 4000) AS hot,
        IF(id % 3 = 0, NULL, id % 4000) AS nulls, id % 77 AS b, id AS v
        FROM range(0, 40000, 1, 4)""")
      .write
      .saveAsTable("plain")
    spark.table("plain").write.saveAsTable("analysed")
    spark.sql("ANALYZE TABLE analysed COMPUTE STATISTICS FOR ALL COLUMNS")
    withConf("spark.sql.statistics.histogram.enabled" -> true) {
      spark.table("plain").write.saveAsTable("histograms")
      val _ = spark.sql("ANALYZE TABLE histograms COMPUTE STATISTICS FOR ALL COLUMNS")
    }
  }

  private def query(
      table: String,
      key: String,
      where: String = "true",
      other: String = "b"): String =
    s"SELECT $key, max(n) FROM (SELECT $key, $other, count(*) AS n FROM $table WHERE $where " +
      s"GROUP BY $key, $other) GROUP BY $key"

  /** With a window above, whose shuffle is of all groups by both keys. */
  private def ranked(table: String, key: String, other: String = "b"): String =
    s"SELECT *, rank() OVER (PARTITION BY $key ORDER BY n) AS r FROM (SELECT $key, $other, " +
      s"count(*) AS n FROM $table GROUP BY $key, $other)"

  private def decline(sql: String): Declined = explain(sql).declined match {
    case Seq(one) => one
    case other => fail(s"$other of $sql")
  }

  private def fires(sql: String, source: String): Unit = {
    explain(sql).fired.find(_.rule == "RemoveRedundantShuffle") match {
      case Some(found) => assert(found.values("source").contains(source), sql)
      case None => fail(s"$sql: ${explain(sql).declined}")
    }
    val _ = assertSameAnswer(sql)
  }

  test("by the statistics of columns") {
    fires(query("analysed", "many"), "table statistics")
    val few = decline(query("analysed", "few")).why
    assert(few.code == "SHUFFLE.FEW_KEYS")
    assert(few.values("distinct") == "20" && few.values("bound") == "30", few)
    assert(few.setting.contains(ShuffleConf.MIN_KEYS_PER_PARTITION.key))
    withConf(ShuffleConf.MIN_KEYS_PER_PARTITION.key -> 5) {
      fires(ranked("analysed", "few"), "table statistics")
    }
    assert(decline(query("analysed", "nulls")).why.code == "SHUFFLE.LARGE_KEY")
  }

  test("statistics of a column are not those of what can be cast of it") {
    def cast(to: String) =
      "SELECT k, max(n) FROM (SELECT try_cast(many AS " + to + ") AS k, b, n FROM " +
        "(SELECT many, b, count(*) AS n FROM analysed GROUP BY many, b)) GROUP BY k"
    fires(cast("DECIMAL(20, 0)"), "table statistics")
    // Most of them are null.
    assert(!fired(cast("TINYINT")).contains("RemoveRedundantShuffle"))
    assertSameAnswer(cast("TINYINT"))
  }

  test("a second shuffle of few groups is not worth an uneven one of many") {
    withConf(ShuffleConf.MIN_KEYS_PER_PARTITION.key -> 5) {
      val sql = query("analysed", "few", other = "v")
      val known = decline(sql).why
      assert(known.code == "SHUFFLE.FEW_GROUPS")
      // Three tasks with twenty groups each, compared to forty thousand rows.
      assert(known.values("groups for each row below") == "0.0015", known)
      assert(known.setting.contains(ShuffleConf.MIN_KEYS_PER_PARTITION.key))
      fires(ranked("analysed", "few", other = "v"), "table statistics")
      fires(query("analysed", "many", other = "v"), "table statistics")
      withConf(ShuffleConf.SAMPLE_MIN_SIZE.key -> 1) {
        val sampled = decline(query("plain", "few", other = "v")).why
        assert(sampled.code == "SHUFFLE.FEW_GROUPS" && sampled.values("source").contains("sample"))
        fires(ranked("plain", "few", other = "v"), "sample")
      }
      unknownRows()
      val data = spark.sql(chain("few").replace("v % 7 AS c", "v AS c"))
      data.collect()
      assert(Explain.of(executed(data)).declined.map(_.why.code).contains("SHUFFLE.FEW_GROUPS"))
      // In a chain each shuffle is judged by its groups, not by the keys that it was given.
      def deep(b: String) =
        s"SELECT few, max(m) FROM (SELECT few, $b, max(n) AS m FROM (SELECT few, " +
          s"$b, v, count(*) AS n FROM analysed GROUP BY ALL) GROUP BY few, $b) GROUP BY few"
      withConf("spark.sql.shuffle.partitions" -> 4) {
        assert(shufflesRun(deep("b")) == 1)
        assert(shufflesRun(deep("many")) == 2)
        assert(declines(deep("many")) == Set("SHUFFLE.FEW_GROUPS"))
      }
      withConf(ungated)(fires(sql, ShuffleConf.MIN_KEYS_PER_PARTITION.key))
    }
  }

  test("by the partitions that adaptive execution will leave, where statistics tell the size") {
    withConf("spark.sql.shuffle.partitions" -> 200) {
      def bound(key: String) = decline(query("analysed", key)).why.values("bound")
      assert(bound("few") == "2000")
      withConf("spark.sql.adaptive.coalescePartitions.enabled" -> true) {
        fires(ranked("analysed", "few"), "table statistics") // for two tasks at a time
        assert(decline(query("analysed", "few", "few < 15")).why.values("bound") == "20")
        assert(decline(query("analysed", "nulls")).why.code == "SHUFFLE.LARGE_KEY")
        withConf("spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "1m") {
          val bytes = 8 * 40000L * 24 // 24 bytes for a row of two columns, by Spark's estimate
          assert(bound("few").toLong == 10 * (bytes / (1L << 20) + 1))
        }
        withConf("spark.sql.adaptive.enabled" -> false) { assert(bound("few") == "2000") }
      }
    }
  }

  test("through filters and joins, whatever spark.sql.cbo.enabled is") {
    Seq(true, false).foreach { cbo =>
      withConf("spark.sql.cbo.enabled" -> cbo) {
        assert(decline(query("analysed", "many", "many < 15")).why.code == "SHUFFLE.FEW_KEYS")
        fires(query("analysed", "many", "many < 2000"), "table statistics")
        fires(
          query("(SELECT l.many, l.b FROM analysed AS l JOIN analysed AS r ON l.v = r.v)", "many"),
          "table statistics")
      }
    }
  }

  test("uses what adaptive execution finds out below") {
    spark.sql("SELECT id AS k, concat('n', id) AS name FROM range(40000)")
      .write.saveAsTable("names")
    spark.sql("ANALYZE TABLE names COMPUTE STATISTICS FOR ALL COLUMNS")
    val sql = """SELECT *, rank() OVER (PARTITION BY many ORDER BY s) AS r FROM (
      SELECT l.many, l.b, sum(l.v) AS s FROM histograms AS l JOIN names AS n ON l.v = n.k
      WHERE n.name LIKE 'n3999%' GROUP BY l.many, l.b)"""
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "10k") {
      val data = spark.sql(sql)
      val _ = data.collect()
      val joins = collectIn(executed(data)) { case join: BaseJoinExec => join }
      assert(joins.map(_.getClass.getSimpleName) == Seq("BroadcastHashJoinExec"), executed(data))
      assert(shufflesOf(data) == 3, executed(data)) // of both tables, and by `many`
      fires(sql, "table statistics")
    }
  }

  test("keeps the shuffle of an input that may be small enough for a broadcast") {
    def groups(b: Int) = "SELECT /*+ MERGE(l) */ l.many, l.few, count(*) AS n FROM analysed AS l " +
      "JOIN analysed AS r ON l.many = r.many JOIN analysed AS d ON l.few = d.v " +
      s"WHERE l.b = $b GROUP BY l.many, l.few"
    val sql = s"SELECT x.n, y.n FROM (${groups(1)}) AS x JOIN (${groups(2)}) AS y " +
      "ON x.many = y.many AND x.few = y.few"
    withConf(
      "spark.sql.autoBroadcastJoinThreshold" -> 1000000,
      "spark.sql.adaptive.autoBroadcastJoinThreshold" -> 200000) {
      val small = decline(sql).why
      assert(small.code == "SHUFFLE.SMALL_INPUT", small)
      assert(small.values("bound") == "1600000", small)
      val unknown = decline(sql.replace("analysed", "plain")).why
      assert(unknown.code == "SHUFFLE.SMALL_INPUT" && unknown.values("bytes") == "unknown", unknown)
      assertSameAnswer(sql)
      Seq(
        "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "100",
        "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "-1",
        "spark.sql.adaptive.enabled" -> "false",
        ShuffleConf.MIN_KEYS_PER_PARTITION.key -> "0"
      ).foreach { setting =>
        withConf(setting) {
          assert(fired(sql) == Seq("RemoveRedundantShuffle"), s"$setting: ${explain(sql).declined}")
          assertSameAnswer(sql)
        }
      }
      // Neither side of these can be broadcast.
      Seq(
        sql.replace("AS x JOIN", "AS x FULL JOIN"),
        sql.replace("SELECT x.n", "SELECT /*+ MERGE(x) */ x.n"))
        .foreach { never =>
          assert(fired(never) == Seq("RemoveRedundantShuffle"), explain(never).declined)
          assertSameAnswer(never)
        }
    }
  }

  test("keeps the shuffle of few groups, which may be small enough for a broadcast") {
    val groups = "SELECT many, b, count(*) AS n FROM analysed GROUP BY many, b"
    def joined(small: String) =
      s"SELECT v, n FROM analysed AS big JOIN ($small) AS d ON big.many = d.many"
    withConf(
      "spark.sql.autoBroadcastJoinThreshold" -> -1,
      "spark.sql.adaptive.autoBroadcastJoinThreshold" -> 200000) {
      Seq(
        s"$groups HAVING count(*) > 1000",
        s"SELECT many, max(n) AS n FROM ($groups) GROUP BY many").foreach { small =>
        assert(declines(joined(small)) == Set("SHUFFLE.SMALL_INPUT"), small)
        assertSameAnswer(joined(small))
      }
      assert(fired(joined(groups)).contains("RemoveRedundantShuffle"))
    }
  }

  test("one table read in two ways, under the same column names") {
    spark.table("analysed").createOrReplaceTempView("named")
    def groups(where: String) =
      s"SELECT many, count(b) FROM (SELECT DISTINCT many, b FROM named WHERE $where) GROUP BY many"
    Seq(1, 2).foreach { _ =>
      fires(groups("true"), "table statistics")
      assert(decline(groups("v < 15")).why.code == "SHUFFLE.FEW_KEYS")
    }
  }

  test("statistics of a union with a window directly below") {
    spark.table("plain").selectExpr("many AS k", "b", "v").createOrReplaceTempView("three")
    assertSameAnswer(
      """SELECT k, count(s) FROM (SELECT k, b, sum(w) AS s FROM (
        SELECT k, b, count(*) OVER (PARTITION BY k, b) AS w FROM three
        UNION ALL SELECT k, b, v FROM three) GROUP BY k, b) GROUP BY k""")
  }

  test("among columns that are equal since a join, the one with the most frequent value counts") {
    withConf("spark.sql.statistics.histogram.enabled" -> true) {
      spark.sql("SELECT DISTINCT many AS k FROM plain").write.saveAsTable("unique_keys")
      spark.sql("ANALYZE TABLE unique_keys COMPUTE STATISTICS FOR ALL COLUMNS")
    }
    withConf(
      "spark.sql.autoBroadcastJoinThreshold" -> -1,
      "spark.sql.shuffle.partitions" -> 8) {
      val sql =
        """SELECT x.b, y.v FROM (SELECT l.b, r.k FROM histograms AS l JOIN unique_keys AS r ON l.hot = r.k) AS x
        JOIN histograms AS y ON x.k = y.many AND x.b = y.b"""
      assert(declines(sql) == Set("SHUFFLE.LARGE_KEY"), explain(sql))
      assertSameAnswer(sql)
    }
  }

  test("types that Spark's estimates do not support are no error") {
    spark.sql("""SELECT many, b, v, CAST(timestamp_seconds(v) AS TIMESTAMP_NTZ) AS ts,
      CAST(v AS STRING) COLLATE UTF8_LCASE AS name FROM plain""").write.saveAsTable("typed")
    spark.sql("ANALYZE TABLE typed COMPUTE STATISTICS FOR ALL COLUMNS")
    Seq("ts >= TIMESTAMP_NTZ'1970-01-01 00:00:09'", "name > 'm'", "name < 'm'").foreach { where =>
      assertSameAnswer(query("typed", "many", where))
    }
  }

  test("an input with far too many partitions for its size does not decide") {
    withConf(
      "spark.sql.autoBroadcastJoinThreshold" -> -1,
      "spark.sql.adaptive.coalescePartitions.enabled" -> true) {
      def join(buckets: Int) = {
        spark.table("plain").coalesce(1).write.bucketBy(buckets, "many").saveAsTable(s"in_$buckets")
        s"SELECT * FROM in_$buckets AS l JOIN histograms AS r ON l.many = r.many AND l.b = r.b"
      }
      val many = join(24) // where two tasks would be enough
      assert(declines(many) == Set("SHUFFLE.MANY_PARTITIONS"))
      assertSameAnswer(many)
      fires(join(12), "table statistics")
    }
  }

  test("new statistics are used at once") {
    spark.table("plain").write.saveAsTable("later")
    assert(decline(query("later", "many")).why.code == "SHUFFLE.UNKNOWN_KEYS")
    spark.sql("ANALYZE TABLE later COMPUTE STATISTICS FOR ALL COLUMNS")
    fires(query("later", "many"), "table statistics")
  }

  test("an RDD is not run for a sample") {
    val read = spark.sparkContext.longAccumulator
    val rows = spark.sparkContext.parallelize(0 until 20000, 4).map { i =>
      read.add(1)
      Row(i % 4000, i % 77)
    }
    val schema = StructType.fromDDL("many INT, b INT")
    spark.createDataFrame(rows, schema).createOrReplaceTempView("computed")
    withConf(ShuffleConf.SAMPLE_MIN_SIZE.key -> 1) {
      assert(decline(query("computed", "many")).why.code == "SHUFFLE.UNKNOWN_KEYS")
    }
    assert(read.value == 0)
  }

  test("through grouping sets") {
    def rolledUp(key: String) =
      s"SELECT $key, max(n) FROM (SELECT $key, b, count(*) AS n FROM analysed GROUP BY ROLLUP ($key, b)) " +
        s"GROUP BY $key"
    val few = decline(rolledUp("few")).why
    assert(few.code == "SHUFFLE.FEW_KEYS" && few.values("distinct") == "20", few)
    // A third of the copies have null for it, which is too much for one of three partitions.
    assert(decline(rolledUp("many")).why.code == "SHUFFLE.LARGE_KEY")
  }

  test("by histograms") {
    fires(query("histograms", "many"), "table statistics")
    assert(decline(query("histograms", "hot")).why.code == "SHUFFLE.LARGE_KEY")
  }

  /** A join shuffles all rows, an aggregate one row for each group of a task. */
  private def joined(table: String, key: String): String =
    s"SELECT l.$key, count(*) FROM $table AS l JOIN $table AS r ON l.$key = r.$key AND l.v = r.v GROUP BY l.$key"

  test("where rows are shuffled, not groups, the most frequent value must be known") {
    withConf("spark.sql.autoBroadcastJoinThreshold" -> -1) {
      fires(joined("histograms", "many"), "table statistics")
      assert(decline(joined("histograms", "hot")).why.code == "SHUFFLE.LARGE_KEY")
      val why = explain(joined("analysed", "hot")).declined.map(_.why)
      assert(why.nonEmpty && why.forall(_.code == "SHUFFLE.UNKNOWN_KEYS"), why)
      assert(why.forall(_.values("why").contains("no histogram")))
      withConf(ShuffleConf.SAMPLE_MIN_SIZE.key -> 1) {
        fires(joined("analysed", "many"), "table statistics")
        assert(explain(joined("analysed", "hot")).declined.map(_.why.code).contains(
          "SHUFFLE.LARGE_KEY"))
        val window =
          "SELECT k, max(w) FROM (SELECT hot AS k, sum(v) OVER (PARTITION BY hot, b) AS w FROM plain) GROUP BY k"
        assert(decline(window).why.code == "SHUFFLE.LARGE_KEY")
        fires(window.replace("hot", "many"), "sample")
      }
    }
  }

  test("an input that stays must not have one value with most of the rows") {
    val sql = "SELECT * FROM (SELECT *, max(v) OVER (PARTITION BY %s) AS w FROM histograms) AS l " +
      "JOIN histograms AS r ON l.%s = r.many AND l.v = r.v"
    withConf("spark.sql.autoBroadcastJoinThreshold" -> -1, "spark.sql.shuffle.partitions" -> 8) {
      fires(sql.replace("%s", "many"), "table statistics")
      val hot = explain(sql.replace("%s", "hot"))
      assert(hot.declined.map(_.why.code).contains("SHUFFLE.LARGE_KEY"), hot)
    }
  }

  test("a join in buckets below joins by more keys, over another number of partitions") {
    Seq("bucketed_l", "bucketed_m").foreach { table =>
      spark.sql("SELECT id % 500 AS a, id % 7 AS b, id % 3 AS c, id AS v FROM range(2000)")
        .write.bucketBy(8, "a").saveAsTable(table)
      spark.sql(s"ANALYZE TABLE $table COMPUTE STATISTICS FOR ALL COLUMNS")
    }
    withConf(
      "spark.sql.autoBroadcastJoinThreshold" -> -1,
      "spark.sql.shuffle.partitions" -> 100,
      "spark.sql.codegen.wholeStage" -> false) {
      assertSameAnswer("""SELECT l.v, m.v, x.v, y.v FROM bucketed_l AS l
        LEFT JOIN bucketed_m AS m ON l.a = m.a AND l.b = m.b AND l.c = m.c
        JOIN bucketed_m AS x ON l.a = x.a AND l.b = x.b AND l.c = x.c
        JOIN bucketed_l AS y ON l.a = y.a AND l.b = y.b WHERE y.v < 700""")
    }
  }

  test("by a sample, where there are no statistics and the source is large") {
    assert(decline(query("plain", "many")).why.code == "SHUFFLE.UNKNOWN_KEYS")
    withConf(ShuffleConf.SAMPLE_MIN_SIZE.key -> 1) {
      fires(query("plain", "many"), "sample")
      assert(decline(query("plain", "few")).why.code == "SHUFFLE.FEW_KEYS")
      assert(decline(query("plain", "hot", other = "v")).why.code == "SHUFFLE.LARGE_KEY")
      // Groups are shuffled, and few of them have the hot key.
      fires(query("plain", "hot"), "sample")
      // The key of a floating-point column is normalised under the column's own name.
      fires(query("(SELECT DOUBLE(many) AS d, b FROM plain)", "d"), "sample")
      // A computed key, and a filter that leaves too few rows.
      fires(query("(SELECT many * 2 AS m, b FROM plain)", "m"), "sample")
      assert(decline(query("plain", "many", "v < 100")).why.code == "SHUFFLE.UNKNOWN_KEYS")
      // A sample would run subqueries completely, and user-defined functions for every row.
      spark.udf.register("same", (v: Int) => v)
      val filters = Seq("b < (SELECT max(id) FROM range(9))", "same(b) >= 0")
      filters.foreach { where =>
        assert(decline(query("plain", "many", where)).why.code == "SHUFFLE.UNKNOWN_KEYS", where)
      }
      withConf(ShuffleConf.SAMPLE.key -> false) {
        assert(decline(query("plain", "many")).why.code == "SHUFFLE.UNKNOWN_KEYS")
      }
    }
  }

  /** Aggregates by (a, b, c), (a, b) and a, over rows without statistics. */
  private def chain(key: String, join: String = "", value: String = "max(n)"): String =
    s"SELECT a, max(m) FROM (SELECT a, b, $value AS m FROM (SELECT $key AS a, b, v % 7 AS c, count(*) AS n " +
      s"FROM unknown GROUP BY ALL) AS l $join GROUP BY a, b) GROUP BY a"

  private def unknownRows(): Unit = {
    val rows = spark.table("plain").rdd
    spark.createDataFrame(rows, spark.table("plain").schema).createOrReplaceTempView("unknown")
    spark.range(0, 50).selectExpr("id AS x").createOrReplaceTempView("others")
  }

  private def shufflesRun(sql: String): Int = {
    val data = spark.sql(sql)
    data.collect()
    shufflesOf(data)
  }

  test("by a shuffle below that has run: the next ones are one") {
    unknownRows()
    withConf("spark.sql.autoBroadcastJoinThreshold" -> -1) {
      assert(stock(shufflesRun(chain("many"))) == 3)
      assert(shufflesRun(chain("many")) == 2)
      val run = spark.sql(chain("many"))
      run.collect()
      val explained = Explain.of(executed(run))
      val fired = explained.fired
      assert(fired.map(_.rule) == Seq("RemoveRedundantShuffle"))
      // The shuffle in the middle stays; what was said of the other one before the run is gone.
      assert(explained.declined.size == 1, explained.declined)
      assert(fired.head.values("source").endsWith("rows of a shuffle that has run"))
      assertSameAnswer(chain("many"))
      // A join that keeps all rows of that side keeps all of its values.
      val outer = chain("many", "LEFT JOIN others ON l.c = others.x", "sum(coalesce(x, n))")
      assert(stock(shufflesRun(outer)) == 5 && shufflesRun(outer) == 4)
      assertSameAnswer(outer)
      val inner = outer.replace("LEFT JOIN", "JOIN")
      assert(shufflesRun(inner) == stock(shufflesRun(inner)))
      withConf(ShuffleConf.SAMPLE.key -> false)(assert(shufflesRun(chain("many")) == 3))
      withConf("spark.sql.adaptive.enabled" -> false) {
        assert(shufflesRun(chain("many")) == 3)
        assert(!executed(spark.sql(chain("many"))).toString.contains("CountedKeys"))
      }
    }
  }

  test("a shuffle that has run may also show that keys are few, or one is large") {
    unknownRows()
    Seq("few" -> "SHUFFLE.FEW_KEYS", "IF(v % 3 = 0, v, 0)" -> "SHUFFLE.LARGE_KEY").foreach {
      case (key, code) =>
        val data = spark.sql(chain(key).replace("v % 7 AS c", "v AS c"))
        data.collect()
        assert(shufflesOf(data) == 3)
        val why = Explain.of(executed(data)).declined.map(_.why)
        assert(why.exists(_.code == code), why)
        assert(why.filter(_.code == code).forall(_.values("source").contains("that has run")))
    }
  }

  test("counting keys does not prevent the reuse of a shuffle") {
    unknownRows()
    val twice = s"${chain("many")} UNION ALL ${chain("many")}"
    assert(shufflesRun(twice) <= stock(shufflesRun(twice)))
    assertSameAnswer(twice)
  }

  test("an uneven shuffle is reported after it has run") {
    // One key with almost all rows, in a plan that is planned again after that shuffle.
    val sql =
      "SELECT * FROM (SELECT k, count(*) AS n FROM (SELECT IF(few = 1, v % 50, 0) AS k, v, " +
        "max(few) AS m FROM plain GROUP BY 1, 2) GROUP BY k) ORDER BY n"
    withConf(ungated, ShuffleConf.UNEVEN_SIZE.key -> 1, "spark.sql.shuffle.partitions" -> 12) {
      val data = spark.sql(sql)
      data.collect()
      val told = Explain.of(executed(data))
      assert(told.fired.map(_.rule) == Seq("RemoveRedundantShuffle"))
      assert(told.declined.map(_.why.code) == Seq("SHUFFLE.UNEVEN"))
    }
  }

  test("a shuffle that has not run yet is not judged") {
    withConf(ungated) {
      val planned = spark.sql(query("plain", "few")).queryExecution.executedPlan
      val shuffle = planned match {
        case adaptive: AdaptiveSparkPlanExec =>
          adaptive.initialPlan.collectFirst { case shuffle: ShuffleExchangeExec => shuffle }.get
        case other => fail(s"not adaptive: $other")
      }
      OutputWatch.look(ShuffleQueryStageExec(0, shuffle, shuffle.canonicalized))
    }
  }

  test("a sample reads no more than it must") {
    withConf(ShuffleConf.SAMPLE_MIN_SIZE.key -> 1, ShuffleConf.SAMPLE_ROWS.key -> 8000) {
      spark.range(0, 1000000, 1, 10).createOrReplaceTempView("numbers")
      val sql = query("(SELECT id % 50000 AS k, id % 3 AS b FROM numbers WHERE id >= 0)", "k")
      val sampled = explain(sql).fired.head.values("distinct").toInt
      assert(sampled > 1000 && sampled <= 8000)
    }
  }
}
