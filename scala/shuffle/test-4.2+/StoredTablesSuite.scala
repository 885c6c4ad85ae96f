package io.firesteel.shuffle

import org.apache.spark.sql.connector.expressions.Expressions
import org.apache.spark.sql.firesteel.BucketingSettings

/** Tables whose source reports their partitioning: the other side of a join is brought to them. */
class StoredTablesSuite extends ShuffleSuite {

  override protected def settings: Map[String, String] = StoredCatalog.settings ++ Map(
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.codegen.factoryMode" -> "NO_CODEGEN")

  override def beforeAll(): Unit = {
    super.beforeAll()
    Seq("t" -> 400, "u" -> 900).foreach { case (name, rows) =>
      spark
        .sql(s"""SELECT IF(id % 11 = 0, NULL, id * 7 % ${rows / 20 + 3}) AS a,
          IF(id % 13 = 0, NULL, id % 4) AS b, concat('s', id % 5) AS c,
          array(0.0D, -0.0D, double('NaN'), 1.5D)[id % 4] AS d, id AS v
          FROM range(0, $rows, 1, 3)""")
        .createOrReplaceTempView(name)
    }
    val t = spark.table("t")
    StoredCatalog.put("by_a", t, Seq(Expressions.identity("a")), Seq("a"))
    // The same values and others, in another order.
    StoredCatalog.put("more", spark.table("u"), Seq(Expressions.identity("a")), Seq("a"))
    StoredCatalog.put("same", t.orderBy(t("v").desc), Seq(Expressions.identity("a")), Seq("a"))
    StoredCatalog.put("by_d", t, Seq(Expressions.identity("d")), Seq("d"))
    StoredCatalog.put("by_c", t, Seq(Expressions.identity("c")), Seq("c"), tellsSizes = false)
    StoredCatalog.put("few", t.where("a < 2"), Seq(Expressions.bucket(1, "a")), bucket(1))
    StoredCatalog.put("buckets", t, Seq(Expressions.bucket(4, "a")), bucket(4))
    StoredCatalog.put("other_buckets", spark.table("u"), Seq(Expressions.bucket(4, "a")), bucket(4))
    StoredCatalog.put(
      "both",
      t,
      Seq(Expressions.identity("b"), Expressions.bucket(3, "a")),
      Seq("b") ++ bucket(3))
    // Two fifths of it have one value, in two parts; each part is as large as other parts.
    val fifths = spark.sql("SELECT IF(id % 5 < 2, 0, id % 5 - 1) AS a, id AS b FROM range(500)")
    StoredCatalog.put("halves", fifths, Seq(Expressions.identity("a")), Seq("a"))
    StoredCatalog.put(
      "large",
      t.selectExpr("IF(v < 300, 7, a) AS a", "b", "c", "d", "v"),
      Seq(Expressions.bucket(4, "a")),
      bucket(4))
  }

  private def bucket(n: Int) = Seq(s"stored_bucket($n, a)")

  private val ab = "l.a = r.a AND l.b = r.b"

  /** Queries, with the shuffles of Spark's plan and of ours. */
  private val fewer = Seq(
    ("SELECT * FROM stored.by_a AS l JOIN u AS r ON l.a = r.a", 2, 1),
    (s"SELECT * FROM stored.by_a AS l JOIN u AS r ON $ab", 2, 1),
    (s"SELECT * FROM u AS l JOIN stored.buckets AS r ON $ab AND l.c = r.c", 2, 1),
    (s"SELECT * FROM u AS l LEFT JOIN stored.buckets AS r ON $ab", 2, 1),
    (s"SELECT * FROM stored.buckets AS l LEFT JOIN u AS r ON $ab", 2, 1),
    (s"SELECT * FROM u AS l FULL JOIN stored.by_a AS r ON $ab", 2, 1),
    (s"SELECT * FROM u AS l LEFT SEMI JOIN stored.by_a AS r ON $ab", 2, 1),
    (s"SELECT * FROM u AS l LEFT ANTI JOIN stored.by_a AS r ON $ab", 2, 1),
    (s"SELECT * FROM stored.both AS l JOIN u AS r ON $ab AND l.c = r.c", 2, 1),
    (s"SELECT * FROM stored.by_a AS l JOIN stored.same AS r ON $ab", 2, 0),
    (s"SELECT * FROM stored.buckets AS l JOIN stored.other_buckets AS r ON $ab", 2, 0),
    (s"SELECT * FROM stored.by_a AS l JOIN stored.more AS r ON $ab", 2, 1),
    (s"SELECT l.a, count(*) FROM stored.by_a AS l JOIN u AS r ON $ab GROUP BY l.a", 3, 1),
    (s"SELECT r.a, count(*) FROM stored.buckets AS l JOIN u AS r ON $ab GROUP BY r.a", 3, 1),
    (s"SELECT l.a, count(*) FROM u AS l LEFT JOIN stored.by_a AS r ON $ab GROUP BY l.a", 3, 1),
    (
      """SELECT l.a, l.s, r.v FROM (SELECT a, b, sum(v) AS s FROM u GROUP BY a, b) AS l
      JOIN (SELECT a, b, v + 1 AS v FROM stored.buckets WHERE v > 9) AS r ON l.a = r.a""",
      3,
      2)
  )

  for {
    ((sql, theirs, ours), i) <- fewer.zipWithIndex
    adaptive <- Seq(true, false)
  } test(s"$i: ${sql.take(90)}, adaptive $adaptive") {
    withConf(
      ungated,
      "spark.sql.adaptive.enabled" -> adaptive,
      "spark.sql.join.preferSortMergeJoin" -> (adaptive == (i % 2 == 0))) {
      val found = spark.sql(sql)
      val rows = found.collect().toSeq
      val (expected, before) = stock {
        val data = spark.sql(sql)
        (data.collect().toSeq, shufflesOf(data))
      }
      assert(rows.nonEmpty)
      assertSameRows(rows, expected, sql)
      assert((before, shufflesOf(found)) == ((theirs, ours)), executed(found))
    }
  }

  test("columns whose equal values may have different bytes are left to Spark") {
    withConf(ungated) {
      val sql = "SELECT * FROM stored.by_d AS l JOIN u AS r ON l.d = r.d AND l.b = r.b"
      assertSameAnswer(sql)
      assert(fired(sql).isEmpty)
    }
  }

  test("does nothing with settings under which a table is not partitioned as reported") {
    val bucketing = "spark.sql.sources.v2.bucketing"
    Seq(
      BucketingSettings.keysSubset.key,
      s"$bucketing.partiallyClusteredDistribution.enabled",
      s"$bucketing.allowCompatibleTransforms.enabled").foreach { setting =>
      withConf(
        ungated,
        setting -> true,
        "spark.sql.requireAllClusterKeysForCoPartition" -> false) {
        fewer.take(5).foreach { case (sql, _, _) => assertSameAnswer(sql) }
        assert(fired(fewer(0)._1).isEmpty, setting)
      }
    }
    withConf(ungated, s"$bucketing.enabled" -> false) {
      assertSameAnswer(fewer(1)._1)
      assert(fired(fewer(1)._1).isEmpty)
    }
  }

  test("a table with too few partitions, or one of a large or unknown size, does not decide") {
    Seq(
      ("few", "a", "SHUFFLE.FEW_PARTITIONS"),
      ("large", "a", "SHUFFLE.LARGE_BUCKET"),
      ("halves", "a", "SHUFFLE.LARGE_BUCKET"),
      ("by_c", "c", "SHUFFLE.UNKNOWN_SIZES"),
      ("by_a", "a", "SHUFFLE.LARGE_BUCKET"), // a value is a part, and null is the largest
      ("buckets", "a", "SHUFFLE.UNKNOWN_KEYS")
    ).foreach { case (table, key, code) =>
      val sql = s"SELECT * FROM stored.$table AS l JOIN u AS r ON l.$key = r.$key AND l.b = r.b"
      assert(declines(sql) == Set(code), table)
      assert(fired(sql).isEmpty, table)
    }
  }

  test("if the keys stay the same, no facts about them are needed") {
    val sql = "SELECT * FROM stored.buckets AS l JOIN u AS r ON l.a = r.a"
    assertSameAnswer(sql)
    assert(fired(sql) == Seq("RemoveRedundantShuffle"))
  }

  test("facts about the other side decide, too") {
    def column(of: String) = s"SELECT $of AS a, id % 4 AS b, id AS v FROM range(800)"
    spark.sql(column("id % 20")).write.saveAsTable("even")
    spark.sql(column("IF(id % 4 = 0, 7, id % 20)")).write.saveAsTable("uneven")
    spark.sql(column("id % 5")).write.saveAsTable("poor")
    withConf("spark.sql.statistics.histogram.enabled" -> true) {
      Seq("even", "uneven", "poor").foreach { table =>
        spark.sql(s"ANALYZE TABLE $table COMPUTE STATISTICS FOR ALL COLUMNS")
      }
    }
    StoredCatalog.put(
      "twenty",
      spark.table("even"),
      Seq(Expressions.identity("a")),
      Seq("a"))
    def sql(table: String) = s"SELECT * FROM stored.twenty AS l JOIN $table AS r ON $ab"
    assertSameAnswer(sql("even"))
    assert(fired(sql("even")) == Seq("RemoveRedundantShuffle"))
    assert(declines(sql("uneven")) == Set("SHUFFLE.LARGE_KEY"))
    assert(declines(sql("poor")) == Set("SHUFFLE.FEW_KEYS"))
    def byA(table: String) = s"SELECT * FROM stored.twenty AS l JOIN $table AS r ON l.a = r.a"
    assertSameAnswer(byA("even"))
    assert(fired(byA("even")) == Seq("RemoveRedundantShuffle"))
    Seq("uneven", "poor").foreach { table =>
      assert(declines(byA(table)) == Set("SHUFFLE.LARGE_KEY"), table)
    }
  }

  test("rows are not brought to a table that is smaller than they are") {
    val rows = spark.table("t")
    def table(name: String, bytes: Option[Long]): Unit =
      StoredCatalog.put(name, rows, Seq(Expressions.bucket(4, "a")), bucket(4), bytes = bytes)
    def sql(name: String) = s"SELECT * FROM stored.$name AS l JOIN u AS r ON l.a = r.a"
    val brought = spark.table("u").queryExecution.optimizedPlan.stats.sizeInBytes.toLong
    table("as_large", Some(2 * brought))
    table("smaller", Some(brought / 2))
    table("unknown", None)
    Seq("smaller", "unknown").foreach { name =>
      assertSameAnswer(sql(name))
      assert(declines(sql(name)) == Set("SHUFFLE.SMALL_TABLE"), name)
      assert(fired(sql(name)).isEmpty, name)
      // No rows are brought to either table.
      val both = s"SELECT * FROM stored.$name AS l JOIN stored.as_large AS r ON $ab"
      assertSameAnswer(both)
      assert(fired(both) == Seq("RemoveRedundantShuffle"), name)
    }
    assertSameAnswer(sql("as_large"))
    assert(fired(sql("as_large")) == Seq("RemoveRedundantShuffle"))
  }

  test("a table by functions with unknown values does not decide") {
    val rows = spark.sql("SELECT id AS a, id % 2 AS b, id AS v FROM range(600)")
    StoredCatalog.put(
      "mixed",
      rows,
      Seq(Expressions.identity("b"), Expressions.bucket(3, "a")),
      Seq("b") ++ bucket(3))
    val sql = s"SELECT * FROM stored.mixed AS l JOIN u AS r ON $ab"
    assertSameAnswer(sql)
    assert(declines(sql) == Set("SHUFFLE.UNKNOWN_SIZES"))
  }

  test("rows are not brought to a table by a function that only its source can compute") {
    val named = Expressions.apply("named", Expressions.column("a"))
    StoredCatalog.put("by_name", spark.table("t"), Seq(named), bucket(4))
    StoredCatalog.put("like_it", spark.table("t"), Seq(named), bucket(4))
    withConf(ungated) {
      val one = "SELECT * FROM stored.by_name AS l JOIN u AS r ON l.a = r.a"
      assertSameAnswer(one)
      assert(fired(one).isEmpty)
      val two = s"SELECT * FROM stored.by_name AS l JOIN stored.like_it AS r ON $ab"
      assertSameAnswer(two)
      assert(fired(two) == Seq("RemoveRedundantShuffle"))
    }
  }
}
