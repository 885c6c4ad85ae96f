package io.firesteel.lookup

import io.firesteel.testkit.TestSize

/** Random tables, joins and options; each answer is compared with a plain join. */
class LookupPropertySuite extends LookupSuite {

  test("random joins under random options answer as plain joins do") {
    val seed = TestSize.seed(11L)
    val queries = TestSize.cases(8)
    val r = new scala.util.Random(seed)
    def pick[T](s: T*): T = s(r.nextInt(s.length))
    (1 to queries).foreach { i =>
      val rows = 1 + r.nextInt(60)
      spark.range(0, rows).selectExpr(
        s"if(rand($i) < 0.1, null, CAST(rand(${i + 1}) * 8 AS INT)) AS a",
        s"if(rand(${i + 2}) < 0.2, null, CAST(rand(${i + 3}) * 5 AS BIGINT)) AS b",
        s"CAST(CAST(rand(${i + 4}) * 3 AS INT) AS STRING) AS s",
        s"CAST(rand(${i + 5}) * 2 AS INT) * -0.0D AS f",
        "id AS v"
      ).createOrReplaceTempView("tmpdim")
      val data = spark.createDataFrame(
        java.util.Arrays.asList(spark.table("tmpdim").collect(): _*),
        spark.table("tmpdim").schema)
      spark.range(0, 40 + r.nextInt(200), 1, 1 + r.nextInt(3)).selectExpr(
        s"if(rand($i) < 0.1, null, CAST(rand(${i + 11}) * 9 AS INT)) AS a",
        s"if(rand(${i + 12}) < 0.2, null, CAST(rand(${i + 13}) * 6 AS BIGINT)) AS b",
        s"CAST(CAST(rand(${i + 14}) * 4 AS INT) AS STRING) AS s",
        "CAST(id % 2 AS INT) * -0.0D AS f",
        "id AS w"
      ).createOrReplaceTempView("tmpleft")
      val l = spark.table("tmpleft")
      spark.createDataFrame(
        java.util.Arrays.asList(l.collect(): _*),
        l.schema).repartition(1 + r.nextInt(3)).createOrReplaceTempView("l")
      val only = pick(None, None, Some(Set("a")), Some(Set("a", "s")), Some(Set("a", "b")))
      val custom = r.nextInt(4) == 0
      store(
        "dim",
        data,
        StoreBehaviour(
          async = r.nextBoolean(),
          only = only,
          maxBatch = pick(1, 3, 1000),
          delayMillis = pick(0L, 0L, 2L)),
        if (r.nextBoolean()) Map(
          "lookup.cache" -> "PARTIAL",
          "lookup.partial-cache.max-rows" -> pick("1", "3", "100"),
          "lookup.partial-cache.cache-missing-key" -> pick("true", "false"))
        else Map.empty,
        if (custom) Some(AnyHash) else None
      )
      val hint =
        s"/*+ LOOKUP(('table'='c'), ('shuffle'='${custom || r.nextBoolean()}'), ('output-mode'='${pick("ordered", "allow_unordered")}'), " +
          s"('lookup.batch-size'='${pick(1, 2, 100)}'), ('capacity'='${pick(1, 2, 50)}')) */"
      val conj = r.shuffle(Seq(
        "l.b = c.b",
        "c.s = l.s",
        "l.f = c.f",
        "c.s = '1'",
        "c.b = 2",
        "l.w = c.a",
        "l.b = c.a",
        "l.a = c.b",
        "c.f = 0.0D",
        "c.v > l.w / 8",
        "l.s = '2'",
        "c.b IS NOT NULL",
        "(l.s = c.s OR l.b > 2)",
        "c.a <=> l.a",
        "c.s IN ('0', '1')",
        "l.a + 1 = c.a"
      )).take(r.nextInt(4))
      val on = r.shuffle("l.a = c.a" +: conj).mkString(" AND ")
      val where = pick(
        "",
        "",
        "",
        " WHERE c.s = '1'",
        " WHERE l.a = 3",
        " WHERE coalesce(c.b, 2) = 2",
        " WHERE c.a IS NULL")
      val sel = pick("l.w, c.v", "*", "l.w, c.s || 'q' AS q", "count(*), sum(c.v)", "l.w")
      val from = pick(
        "{c} c",
        "{c} c",
        "(SELECT a, b, s, f, v, 1 AS one, coalesce(s, 'n') AS cs FROM {c} WHERE v <> 3) c")
      val tail = pick("", "", " LEFT JOIN {c} z ON z.a = l.b")
      val sql = s"SELECT {hint} $sel FROM l ${pick("JOIN", "LEFT JOIN")} $from ON $on$tail$where"
      withConf(
        "spark.sql.adaptive.enabled" -> r.nextBoolean(),
        LookupConf.MAX_BUFFERED_ROWS.key -> pick(1, 3, 100000),
        "spark.sql.autoBroadcastJoinThreshold" -> pick("-1", "10m"),
        "spark.sql.codegen.factoryMode" -> pick("FALLBACK", "NO_CODEGEN")
      ) {
        assertJoins(sql, "dim", hint)
      }
    }
  }
}

object AnyHash extends InputDataPartitioner {
  override def partition(k: org.apache.spark.sql.catalyst.InternalRow, n: Int): Int =
    Math.floorMod(k.hashCode, n)
}
