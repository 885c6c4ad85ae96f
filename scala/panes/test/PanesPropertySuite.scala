package io.firesteel.panes

import io.firesteel.testkit.{RandomQueries, TestSize}
import org.apache.spark.sql.Row
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.scalacheck.{Gen, Prop}
import org.scalatest.Assertion

/** Random sliding windows over random tables: Spark's answer, and there is always a decision. */
class PanesPropertySuite extends PanesSuite with RandomQueries {

  private val schema =
    StructType.fromDDL("k1 INT, k2 STRING, k3 DOUBLE, ci STRING COLLATE UTF8_LCASE, " +
      "v BIGINT, d DOUBLE, w DECIMAL(38, 3), s STRING, micros BIGINT")

  private def orNull[T](values: Gen[T]): Gen[Any] =
    Gen.frequency[Any](1 -> Gen.const(null), 8 -> values)

  // Times in clusters with gaps between them, before and after 1970, many of them equal.
  private val times: Gen[Long] = for {
    cluster <- Gen.oneOf(-1000000000L, -50L, 0L, 77L, 1000000L)
    within <- Gen.oneOf(Gen.choose(-30L, 30L), Gen.oneOf(0L, 12L, 24L))
  } yield cluster + within

  // Sums of halves are exact in any order.
  private val doubles = Gen.oneOf(0.0, -0.0, 1.5, -2.5, 1024.0)

  private val row: Gen[Row] = for {
    k1 <- orNull(Gen.choose(0, 3))
    k2 <- orNull(Gen.oneOf("", "a", "A", "longer than eight bytes"))
    k3 <- orNull(Gen.oneOf(0.0, -0.0, Double.NaN, 1.5))
    ci <- orNull(Gen.oneOf("a", "A", "b"))
    v <- orNull(Gen.choose(-5L, 5L))
    d <- orNull(doubles)
    w <- orNull(Gen.choose(-99999L, 99999L).map(n => new java.math.BigDecimal(n).movePointLeft(3)))
    s <- orNull(Gen.oneOf("x", "yy", "ÿ", ""))
    time <- orNull(times)
  } yield Row(k1, k2, k3, ci, v, d, w, s, time)

  private val rows: Gen[Seq[Row]] =
    Gen.frequency(1 -> Gen.const(0), 15 -> Gen.choose(1, 60)).flatMap(Gen.listOfN(_, row))

  private val windows: Gen[(Long, Long, Long)] = for {
    slide <- Gen.oneOf(Gen.choose(1L, 12L), Gen.choose(13L, 40L))
    size <- Gen.oneOf(
      Gen.choose(2L, 9L).map(_ * slide),
      Gen.choose(slide + 1, slide * 6),
      Gen.const(slide + 1))
    start <- Gen.oneOf(Gen.const(0L), Gen.choose(1 - slide, slide - 1))
  } yield (size, slide, start)

  private val functions = Seq(
    "count(*)",
    "count(v)",
    "sum(v)",
    "sum(d)",
    "avg(v)",
    "avg(d)",
    "sum(w)",
    "avg(w)",
    "min(s)",
    "max(d)",
    "max(w)",
    "sum(v) FILTER (WHERE d > 0)",
    "count(*) FILTER (WHERE s IS NULL)",
    "sort_array(collect_list(v))",
    "sort_array(collect_set(s))",
    "max_by(v, micros * 100 + v)",
    "percentile(v, 0.25)",
    "approx_count_distinct(k2)",
    "bit_xor(v)",
    "every(v > 0)",
    "lower(min(ci))",
    "max(named_struct('s', lower(ci)))",
    "max_by(lower(ci) COLLATE UNICODE, coalesce(lower(ci), ''))"
  )

  // Spark may return any of several equal texts, and groups -0.0 with 0.0.
  private val keys: Map[String, String] = Map(
    "k1" -> "k1",
    "k2" -> "k2",
    "k3" -> "k3 + 0",
    "ci" -> "lower(ci)",
    "k1 % 2" -> "k1 % 2",
    "struct(k1, k2)" -> "struct(k1, k2)")

  private case class Case(rows: Seq[Row], sql: String, settings: Seq[(String, Any)])

  private val cases: Gen[Case] = for {
    rows <- rows
    (size, slide, start) <- windows
    unit <- Gen.oneOf("microseconds", "seconds")
    time <- Gen.oneOf("ts", "ntz", "ts + INTERVAL 1 SECOND")
    keyCount <- Gen.choose(0, 2)
    keys <- Gen.pick(keyCount, keys).map(_.toSeq)
    functionCount <- Gen.choose(0, 4)
    functions <- Gen.pick(functionCount, functions).map(_.toSeq)
    from <- Gen.choose(-40L, 80L)
    having <- Gen.frequency(
      6 -> Gen.const(""),
      1 -> Gen.const("HAVING count(*) > 1"),
      1 -> Gen.const("HAVING window.start >= timestamp_micros(cast(0 AS BIGINT))"))
    below <- Gen.oneOf("", "WHERE v > 0", "WHERE k1 = 1 AND s IS NOT NULL")
    above <- Gen.frequency(
      5 -> Gen.const(""),
      1 -> Gen.const(s"WHERE window.start >= timestamp_seconds($from)"),
      1 -> Gen.const(s"WHERE timestamp_seconds($from) > window.end"),
      1 -> Gen.const(s"WHERE window.start = timestamp_seconds($from)"),
      1 -> Gen.const("WHERE minute(window.end) % 2 = 0")
    )
    settings <- paths
  } yield {
    val shown = keys.zipWithIndex.map { case ((_, shown), i) => s"$shown AS c$i" }
    val results = functions.zipWithIndex.map { case (f, i) => s"$f AS f$i" }
    val select = (shown ++ Seq("window") ++ results).mkString(", ")
    val scale = if (unit == "seconds") "1000000L" else "1L"
    val hop = s"window($time, '$size $unit', '$slide $unit', '$start $unit')"
    Case(
      rows,
      s"""SELECT * FROM (SELECT $select
         |FROM (SELECT *, CAST(ts AS TIMESTAMP_NTZ) AS ntz
         |  FROM (SELECT *, timestamp_micros(micros * $scale) AS ts FROM random_rows)) $below
         |GROUP BY ${(keys.map(_._1) :+ hop).mkString(", ")} $having) $above""".stripMargin,
      settings
    )
  }

  private def paths: Gen[Seq[(String, Any)]] = for {
    adaptive <- Gen.oneOf(true, false)
    wholeStage <- Gen.frequency(3 -> true, 1 -> false)
    interpreted <- Gen.frequency(5 -> "FALLBACK", 1 -> "NO_CODEGEN")
    ansi <- Gen.frequency(4 -> true, 1 -> false)
    sortAggregate <- Gen.frequency(5 -> true, 1 -> false)
    foldFrom <- Gen.oneOf(2L, Long.MaxValue)
    memory <- Gen.frequency(3 -> Nil, 1 -> Seq(PanesConf.MAX_TASK_MEMORY.key -> 1))
  } yield Seq(
    SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> adaptive,
    SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> wholeStage,
    SQLConf.CODEGEN_FACTORY_MODE.key -> interpreted,
    SQLConf.ANSI_ENABLED.key -> ansi,
    SQLConf.USE_OBJECT_HASH_AGG.key -> sortAggregate,
    // Otherwise the rule would decline most random windows.
    PanesConf.MIN_OVERLAP.key -> 1,
    PanesConf.FOLD_FROM.key -> foldFrom
  ) ++ memory

  private val queries = TestSize.cases(10)

  private def check(queries: Int, settings: (String, Any)*): Assertion = {
    var fires = 0
    val property = Prop.forAllNoShrink(cases) { c =>
      spark
        .createDataFrame(spark.sparkContext.parallelize(c.rows, 3), schema)
        .createOrReplaceTempView("random_rows")
      val theirs = sparksRows(c.sql, c.settings)
      withConf(c.settings ++ settings: _*) {
        assertDecided(c.sql, "Expand ")
        if (fired(c.sql).nonEmpty) fires += 1
        hasRows(c.sql, theirs, s"${c.settings}\n${c.rows}")
      }
    }
    checkCases(property, queries)
    assert(fires > queries / 2, "most random windows are planned from panes")
  }

  test("random windows over random tables have Spark's answer and a decision")(check(queries))

  test("random windows without generated code have Spark's answer and a decision") {
    // Spark's object hash aggregate keeps collated strings without copying them.
    check(queries / 3, interpreted :+ (SQLConf.USE_OBJECT_HASH_AGG.key -> false): _*)
  }
}
