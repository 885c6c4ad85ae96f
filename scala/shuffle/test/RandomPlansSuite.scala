package io.firesteel.shuffle

import io.firesteel.testkit.{BesideComet, RowBag, SinceSpark, TestSize}

import scala.util.Random
import scala.util.control.NonFatal

import org.apache.spark.sql.connector.expressions.Expressions

/**
 * Random plans of joins, aggregates, windows, unions and filters, over plain, bucketed, cached and
 * storage-partitioned tables. Keys include nulls, NaN, both zeros and collated strings. The answer
 * is Spark's, with shuffles removed wherever possible.
 */
class RandomPlansSuite extends ShuffleSuite {

  private val queries = TestSize.cases(16)

  /** A few plans may happen to have nothing to remove, and Comet's shuffles are not ours to remove. */
  private val areMany = queries >= 16 && !BesideComet.isOn

  /** On Spark 4.1 statistics decide in none of the first 32 plans. */
  private val needStatistics = !SinceSpark.is("4.1") || SinceSpark.isAfter("4.1")
  private val seed = TestSize.seed(20261121L)

  override protected def settings: Map[String, String] = StoredCatalog.settings

  override def beforeAll(): Unit = {
    super.beforeAll()
    (1 to 3).foreach { t =>
      val rows = spark
        .sql(s"""SELECT IF(id % 9 = 0, NULL, CAST(pmod(xxhash64(id, $t, 1), 6) AS INT)) AS a,
          IF(id % 7 = 0, NULL, CAST(pmod(xxhash64(id, $t, 2), 4) AS INT)) AS b,
          elt(CAST(pmod(xxhash64(id, $t, 3), 5) AS INT) + 1, 'x', 'X', '', 'yy', NULL) AS c,
          array(0.0D, -0.0D, double('NaN'), 1.5D, NULL)[pmod(xxhash64(id, $t, 4), 5)] AS d,
          elt(CAST(pmod(xxhash64(id, $t, 5), 4) AS INT) + 1, 'p', 'P', 'q', NULL)
            COLLATE UTF8_LCASE AS e,
          pmod(xxhash64(id, $t, 6), 50) AS v FROM range(0, ${30 + 10 * t}, 1, 2)""")
      if (t == 1) rows.write.saveAsTable("t1") else rows.createOrReplaceTempView(s"t$t")
    }
    spark.table("t1").write.bucketBy(3, "a").saveAsTable("t4")
    spark.table("t2").write.bucketBy(4, "b", "a").saveAsTable("t5")
    val spread = spark.table("t3")
    spread.repartition(3, spread("a")).createOrReplaceTempView("t6")
    spark.catalog.cacheTable("t6")
    withConf("spark.sql.statistics.histogram.enabled" -> true) {
      Seq("t1", "t4", "t5").foreach(t =>
        spark.sql(s"ANALYZE TABLE $t COMPUTE STATISTICS FOR ALL COLUMNS"))
    }
    Seq(
      ("t7", "t1", Expressions.identity("a"), "a"),
      ("t8", "t2", Expressions.bucket(3, "a"), "stored_bucket(3, a)"),
      ("t9", "t3", Expressions.identity("a"), "a")).foreach { case (name, rows, transform, value) =>
      StoredCatalog.put(name, spark.table(rows), Seq(transform), Seq(value))
      spark.table(s"stored.$name").createOrReplaceTempView(name)
    }
  }

  private val keys = Seq("a", "b", "c", "d", "e")

  /** A query with the columns a, b, c, d, e, v, of the same types as in the tables. */
  private final class Plans(random: Random) {
    private def one[T](of: Seq[T]): T = of(random.nextInt(of.size))
    private def some(of: Seq[String]): Seq[String] =
      random.shuffle(of).take(1 + random.nextInt(math.min(3, of.size)))

    def relation(depth: Int): String =
      if (depth == 0) s"SELECT * FROM t${1 + random.nextInt(9)}"
      else random.nextInt(15) match {
        case 14 => neighbours(depth)
        case 13 => doubled(depth)
        case 12 => ranked(depth)
        case 11 => distinct(depth)
        case 0 | 1 | 2 => aggregate(depth)
        case 3 | 4 => window(depth)
        case 5 | 6 | 7 => join(depth)
        case 8 => swapped(depth)
        case 9 => union(depth)
        case _ => filtered(depth)
      }

    private def aggregate(depth: Int): String = {
      val by = some(keys)
      val columns = keys.map(k => if (by.contains(k)) k else s"${one(Seq("max", "min"))}($k) AS $k")
      val call = one(Seq("sum(v)", "count(*)", "count(DISTINCT b)", "max(v)"))
      s"SELECT ${columns.mkString(", ")}, pmod($call, 50) AS v FROM (${relation(depth - 1)}) " +
        s"GROUP BY ${by.mkString(", ")}"
    }

    private def window(depth: Int): String = {
      val call = one(Seq("sum(v)", "count(*)", "max(v)"))
      s"SELECT ${keys.mkString(", ")}, pmod($call OVER (PARTITION BY ${some(keys).mkString(", ")}), " +
        s"50) AS v FROM (${relation(depth - 1)})"
    }

    /** Rows that tie in the window's order are equal, so the order among them does not matter. */
    private def ranked(depth: Int, by: Seq[String] = some(keys)): String = {
      val call = one(Seq("rank()", "dense_rank()", "row_number()"))
      val order = if (call == "row_number()") keys :+ "v" else some(keys :+ "v")
      s"SELECT ${keys.mkString(", ")}, CAST($call OVER (PARTITION BY ${by.mkString(", ")} " +
        s"ORDER BY ${order.mkString(", ")}) AS BIGINT) AS v FROM (${relation(depth - 1)})"
    }

    /** Rows next to their predecessors, as in TPC-DS q47. */
    private def neighbours(depth: Int): String = {
      val by = some(keys)
      val on =
        by.map(key => s"l.$key = r.$key") :+ one(Seq("l.v = r.v + 1", "l.v - 2 = r.v", "l.v = r.v"))
      s"SELECT l.a, r.b, l.c, r.d, l.e, l.v + r.v AS v FROM (${ranked(depth, by)}) AS l " +
        s"${one(Seq("", "LEFT", "RIGHT", "FULL"))} JOIN (${ranked(depth, by)}) AS r ON ${on.mkString(" AND ")}"
    }

    /** A column under two names; the plans above read either. */
    private def doubled(depth: Int): String =
      "SELECT y AS a, IF(x <=> y, b, 0) AS b, c, d, e, v FROM (SELECT a AS x, b, c, d, e, a AS y, " +
        s"sum(v) OVER (PARTITION BY ${one(Seq("a", "a, b"))} ORDER BY b, c, d, e, v) AS v FROM (${relation(depth - 1)}))"

    private def join(depth: Int): String = {
      val compared = some(keys)
      val on = compared.map { key =>
        // Numbers may also be compared with the other number, and after a cast.
        val other = if (key == "a" || key == "b") one(Seq("a", "b")) else key
        if (key == "a" && random.nextInt(4) == 0) s"CAST(l.a AS BIGINT) = r.$other"
        else if (random.nextInt(8) == 0) s"l.$key <=> r.$other"
        else s"l.$key = r.$other"
      }
      val kind = one(Seq("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI", "ANTI"))
      val (left, right) = (relation(depth - 1), relation(random.nextInt(depth)))
      val condition = on.mkString(" AND ")
      if (kind == "SEMI" || kind == "ANTI")
        s"SELECT l.* FROM ($left) AS l LEFT $kind JOIN ($right) AS r ON $condition"
      else {
        // The merged key of both sides, and similar expressions.
        val columns = keys.map { k =>
          if (kind == "FULL JOIN" && (compared.contains(k) || random.nextInt(4) == 0))
            one(Seq(
              s"coalesce(l.$k, r.$k) AS $k",
              s"IF(r.$k IS NULL, l.$k, r.$k) AS $k",
              s"r.$k AS $k"))
          else s"${one(Seq("l", "r"))}.$k AS $k"
        }.mkString(", ")
        s"SELECT $columns, pmod(coalesce(l.v, 0) + coalesce(r.v, 0), 50) AS v FROM " +
          s"(SELECT DISTINCT * FROM ($left)) AS l $kind (SELECT DISTINCT * FROM ($right)) AS r ON $condition"
      }
    }

    private def swapped(depth: Int): String =
      s"SELECT b AS a, a AS b, c, d, e, v FROM (${relation(depth - 1)})"

    private def union(depth: Int): String =
      s"(${relation(depth - 1)}) UNION ALL (${relation(random.nextInt(depth))})"

    /** Few columns: this makes equal rows. */
    private def distinct(depth: Int): String =
      "SELECT DISTINCT a, b, 'x' AS c, 1.5D AS d, CAST('p' AS STRING COLLATE UTF8_LCASE) AS e, 7L AS v " +
        s"FROM (${relation(depth - 1)})"

    private def filtered(depth: Int): String =
      s"SELECT * FROM (${relation(depth - 1)}) WHERE ${one(Seq("a = b", "a > 1", "b = 2", "c <> 'x'"))}"
  }

  /**
   * How many of four plans need keys that statistics know. Spark 4.0 has fewer plans in which they
   * can decide: unions do not say how their rows lie, nor do stored tables in a way to build on.
   */
  private val gated = if (SinceSpark.is("4.1")) 1 else 2

  /** Counts removed shuffles and sorts, and shuffles removed by statistics. */
  private def check(queries: Range, settings: (String, Any)*): (Int, Int, Int) = {
    var (removed, sorts, byStatistics) = (0, 0, 0)
    queries.foreach { i =>
      val random = new Random(seed + i)
      // Equal strings or zeros with different bytes may represent a group: either is right.
      val sql = "SELECT a, b, c, d + 0.0D AS d, lower(e) COLLATE UTF8_BINARY AS e, v " +
        s"FROM (${new Plans(random).relation(2 + random.nextInt(3))})"
      withConf(
        // The tables are small: this bound lets some plans pass, by the statistics of three tables.
        ShuffleConf.MIN_KEYS_PER_PARTITION.key -> (if (random.nextInt(4) < gated) 0.5 else 0),
        ShuffleConf.MAX_KEY_SHARE.key -> 3,
        ShuffleConf.DISTINCT_VALUE_RATE.key -> (if (random.nextBoolean()) 0 else 0.5),
        "spark.sql.adaptive.enabled" -> random.nextBoolean(),
        "spark.sql.autoBroadcastJoinThreshold" -> (if (random.nextInt(4) == 0) "10m" else "-1"),
        "spark.sql.join.preferSortMergeJoin" -> random.nextBoolean(),
        "spark.sql.shuffle.partitions" -> (2 + random.nextInt(4)),
        // Compiling a plan takes longer than running it.
        "spark.sql.codegen.wholeStage" -> (random.nextInt(4) == 0)
      ) {
        val clue = s"seed ${seed + i}: $sql"
        val theirs = stock(rowsOf(sql))
        try withConf(settings: _*) {
            val rows = rowsOf(sql)
            val explained = explain(sql).fired
            val ofShuffles = explained.filter(_.rule == RemoveRedundantShuffle.name)
            removed += ofShuffles.size
            byStatistics += ofShuffles.count(_.values.get("source").contains("table statistics"))
            sorts += explained.count(_.rule == RemoveRedundantSort.name)
            if (!spark.conf.get("spark.sql.adaptive.enabled").toBoolean)
              assertInOrder(executed(spark.sql(sql)), clue)
            assertSameRows(rows, theirs, clue)
          }
        catch {
          case NonFatal(_) if isCometsFault(sql, RowBag.of(theirs)) => ()
          case e: org.apache.spark.SparkThrowable => fail(clue, e.asInstanceOf[Throwable])
        }
      }
    }
    (removed, sorts, byStatistics)
  }

  test("random plans") {
    val (removed, sorts, byStatistics) = check(0 until queries)
    info(
      s"$removed shuffles ($byStatistics by statistics) and $sorts sorts removed from $queries plans")
    if (areMany) {
      assert(removed > queries / 3, "too few of the plans have a shuffle to remove")
      assert(
        !needStatistics || byStatistics > queries / 100,
        "too few of the plans have keys that statistics know")
      assert(sorts >= queries / 40, "too few of the plans have a sort to remove")
    }
  }

  test("random plans where nothing is compiled") {
    val (removed, _, _) = check(queries until queries + queries / 4, interpreted: _*)
    assert(removed > 0 || !areMany)
  }
}
