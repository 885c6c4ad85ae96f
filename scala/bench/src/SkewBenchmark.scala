package io.firesteel.bench

import io.firesteel.bench.Target.{fewerBytes, neverSlower, slowestTaskAtMost, timesFaster, timesFasterThan}

/** The cases of the skew room: many `DISTINCT`s, hot keys, q28, and cases where stock is fine. */
object SkewBenchmark extends Room {

  override def name: String = "skew"

  override def cases(rows: Long): Seq[Case] =
    twoDistincts(rows) ++ manyDistincts(rows) ++ hotKeys(rows) ++ PercentileCases.of(rows) ++
      Seq(q28(rows)) ++ stockIsFine(rows)

  override def memory: Option[MemoryCase] = Some(SkewMemory.hotGroup)

  /**
   * Spark's own rewrite: it merges rows that are equal in all columns before it copies them. It
   * does not apply if there is another aggregate.
   */
  private val preAggregated = Map("spark.sql.optimizer.optimizeExpandRatio" -> "2")

  private def twoDistincts(rows: Long): Seq[Case] = {
    def counts(a: String, b: String) =
      s"SELECT k, count(DISTINCT $a) AS da, count(DISTINCT $b) AS db, sum(v) AS s " +
        "FROM values GROUP BY k"
    val columns = Seq("k", "da", "db", "s")
    val note = "Spark's own rewrite (optimizeExpandRatio) does not apply beside a SUM."
    Seq(
      Case(
        name = "two-unique",
        title = "two distinct counts and a sum, 1,000 groups, values nearly unique",
        table = SkewTables.values(rows),
        sql = counts("a", "b"),
        compared = columns,
        targets = Seq(timesFaster(3)),
        note = note
      ),
      Case(
        name = "two-repeated",
        title = "two distinct counts and a sum, 1,000 groups, each value 50 times",
        table = SkewTables.values(rows),
        sql = counts("a50", "b50"),
        compared = columns,
        targets = Seq(timesFaster(6)),
        note = note,
        repeat = 3
      )
    )
  }

  private def manyDistincts(rows: Long): Seq[Case] = {
    val wideRows = math.max(rows / 5, 1)
    val counts = SkewTables.countedColumns.map(c => s"count(DISTINCT $c) AS d_$c")
    val sums = SkewTables.summedColumns.map(c => s"sum($c) AS s_$c")
    Seq(Case(
      name = "twenty-five",
      title = "25 distinct counts and 5 sums",
      table = SkewTables.wide(wideRows),
      sql = s"SELECT k, ${(counts ++ sums).mkString(", ")} FROM counted GROUP BY k",
      compared = "k" +: (SkewTables.countedColumns.map("d_" + _) ++
        SkewTables.summedColumns.map("s_" + _)),
      targets = Seq(timesFaster(8), fewerBytes(20)),
      note =
        f"$wideRows%,d rows, of which stock makes 26 each; each value 50 times in its group. " +
          "Spark's own rewrite does not apply beside a SUM."
    ))
  }

  private val manyObjects =
    Map("spark.sql.objectHashAggregate.sortBased.fallbackThreshold" -> "1000000")

  private val manyObjectsNote =
    "Both hash objects for up to 1,000,000 groups in a task, where Spark would by default begin " +
      "to sort after 128."

  private def hotKeys(rows: Long): Seq[Case] =
    Seq(
      Case(
        name = "hot-distinct",
        title = "two distinct counts, nearly unique, one group with 90 % of the rows",
        table = SkewTables.values(rows),
        sql = "SELECT hot, count(DISTINCT a) AS da, count(DISTINCT b) AS db FROM values " +
          "GROUP BY hot",
        compared = Seq("hot", "da", "db"),
        targets = Seq(timesFaster(2), slowestTaskAtMost(1.5)),
        references = Seq(Reference(
          "stock, rows de-duplicated first",
          "SELECT hot, count(DISTINCT a) AS da, count(DISTINCT b) AS db FROM values GROUP BY hot",
          sameAnswer = Seq("hot", "da", "db"),
          settings =
            preAggregated
        )),
        note = "Spark's own rewrite (optimizeExpandRatio = 2) is timed beside it: rows that are " +
          "all different have nothing to de-duplicate."
      ),
      Case(
        name = "hot-percentile",
        title = "percentile, one group with 90 % of the rows",
        table = SkewTables.values(rows),
        sql = "SELECT hot, percentile(a, 0.5) AS p FROM values GROUP BY hot",
        compared = Seq("hot", "p"),
        targets = Seq(timesFaster(1.5)),
        settings = manyObjects,
        note = manyObjectsNote
      ),
      Case(
        name = "hot-collect-set",
        title = "collect_set, one group with 90 % of the rows",
        table = SkewTables.values(rows),
        sql = "SELECT hot, collect_set(a) AS s FROM values GROUP BY hot",
        compared = Seq("hot", "s"),
        checked = Some("SELECT hot, sort_array(collect_set(a)) AS s FROM values GROUP BY hot"),
        targets = Seq(timesFaster(1.5)),
        settings = manyObjects,
        note = manyObjectsNote
      )
    )

  /** With the parameters of Spark's copy of TPC-DS. */
  private def q28(rows: Long): Case = {
    val buckets = Seq(
      (0, 5, 8, 459, 57),
      (6, 10, 90, 2323, 31),
      (11, 15, 142, 12214, 79),
      (16, 20, 135, 6071, 38),
      (21, 25, 122, 836, 17),
      (26, 30, 154, 7326, 7))
    val branches = buckets.zipWithIndex.map { case ((from, to, price, coupon, cost), at) =>
      val b = s"b${at + 1}"
      s"(SELECT avg(ss_list_price) AS ${b}_lp, count(ss_list_price) AS ${b}_cnt, " +
        s"count(DISTINCT ss_list_price) AS ${b}_cntd FROM store_sales " +
        s"WHERE ss_quantity BETWEEN $from AND $to AND (ss_list_price BETWEEN $price AND $price + 10 " +
        s"OR ss_coupon_amt BETWEEN $coupon AND $coupon + 1000 " +
        s"OR ss_wholesale_cost BETWEEN $cost AND $cost + 20)) AS $b"
    }
    val sql = s"SELECT * FROM ${branches.mkString(", ")} LIMIT 100"
    val columns = (1 to 6).flatMap(i => Seq(s"b${i}_lp", s"b${i}_cnt", s"b${i}_cntd"))
    val merging =
      "spark.sql.optimizer.mergeSubplans.filterPropagation.symmetricFilterPropagation.enabled"
    val byDefault = "stock by default"
    val salesRows = rows * 4
    Case(
      name = "q28",
      title = "TPC-DS q28",
      table = SkewTables.storeSales(salesRows),
      sql = sql,
      compared = columns,
      targets = Seq(timesFaster(2.5), timesFasterThan(2.5, byDefault)),
      settings = Map(merging -> "true"),
      references = Seq(
        Reference(byDefault, sql, sameAnswer = columns, settings = Map(merging -> "false"))),
      note =
        f"$salesRows%,d rows, generated with the distributions of the columns that q28 reads. " +
          s"Stock can merge the six scans into one ($merging, off by default), and " +
          s"is; `$byDefault` scans six times."
    )
  }

  private def stockIsFine(rows: Long): Seq[Case] = Seq(
    Case(
      name = "one-distinct",
      title = "one distinct count",
      table = SkewTables.values(rows),
      sql = "SELECT k, count(DISTINCT a) AS d FROM values GROUP BY k",
      compared = Seq("k", "d"),
      targets = Seq(neverSlower)
    ),
    Case(
      name = "one-distinct-repeated",
      title = "one distinct count and a sum, each value 50 times",
      table = SkewTables.values(rows),
      sql = "SELECT k, count(DISTINCT a50) AS d, sum(v) AS s FROM values GROUP BY k",
      compared = Seq("k", "d", "s"),
      targets = Seq(neverSlower),
      repeat = 3
    ),
    Case(
      name = "percentile-groups",
      title = "percentile, five rows to a group",
      table = SkewTables.values(rows / 5),
      sql = "SELECT many, percentile(a, 0.5) AS p FROM values GROUP BY many",
      compared = Seq("many", "p"),
      targets = Seq(neverSlower),
      settings = manyObjects,
      note = f"${rows / 5}%,d rows. " + manyObjectsNote
    ),
    Case(
      name = "percentile-repeated",
      title = "percentile, each value 50 times",
      table = SkewTables.values(rows),
      sql = "SELECT k, percentile(a50, 0.5) AS p FROM values GROUP BY k",
      compared = Seq("k", "p"),
      targets = Seq(neverSlower),
      settings = manyObjects,
      note = manyObjectsNote
    ),
    Case(
      name = "many-groups",
      title = "two distinct counts, five rows to a group",
      table = SkewTables.values(rows),
      sql =
        "SELECT many, count(DISTINCT a) AS da, count(DISTINCT b) AS db FROM values GROUP BY many",
      compared = Seq("many", "da", "db"),
      targets = Seq(neverSlower),
      note = f"${math.max(rows / 5, 1)}%,d groups; the compact sets hold five values each."
    ),
    Case(
      name = "tiny",
      title = "two distinct counts of 1,000 rows in all",
      table = SkewTables.tiny,
      sql =
        "SELECT k, count(DISTINCT a) AS da, count(DISTINCT b) AS db FROM tiny_values GROUP BY k",
      compared = Seq("k", "da", "db"),
      targets = Seq(neverSlower),
      repeat = 5
    )
  )
}
