package io.firesteel.bench

import io.firesteel.bench.Target.{atMostTimes, neverSlower, slowestTaskAtMost, timesFaster}

/** The cases of the rank room: cases with a large gain, and cases that must not get slower. */
object RankBenchmark extends Room {

  override def name: String = "rank"

  override def cases(rows: Long): Seq[Case] =
    perKey(rows) ++ firstRow(rows) ++ wholeTable(rows) ++ skewed(rows) ++ hardForHeaps(rows) ++
      manyKeys(rows) ++ nothingToGain(rows)

  override def memory: Option[MemoryCase] = Some(RankMemory.twentyMillionKeys)

  private def perKey(rows: Long): Seq[Case] = {
    val table = RankTables.events(rows)
    def top(function: String, order: String, targets: Target*): Case = Case(
      name = s"${function.replace('_', '-')}-10",
      title = s"1,000 keys, n = 10, ${function.toUpperCase}",
      table = table,
      sql = topN("events", s"$function()", "k", s"$order DESC", 10, "k", order, "payload"),
      compared = Seq("k", order, "payload", "rn"),
      targets = targets
    )

    Seq(
      top("row_number", "v", timesFaster(5), atMostTimes(1.5, Contestant.scan)),
      top("rank", "score", timesFaster(4)),
      top("dense_rank", "score", timesFaster(4)))
  }

  private def firstRow(rows: Long): Seq[Case] = Seq(Case(
    name = "first-row",
    title = "1,000 keys, n = 1",
    table = RankTables.events(rows),
    sql = topN("events", "row_number()", "k", "v DESC", 1, "k", "v", "seq"),
    compared = Seq("k", "v", "seq", "rn"),
    targets = Seq(timesFaster(4), atMostTimes(1.1, "max_by")),
    // Numbers only: with a string, Spark would aggregate by sorting, which is slow.
    references = Seq(Reference(
      "max_by",
      "SELECT k, max(v) AS v, max_by(seq, v) AS seq FROM events GROUP BY k",
      sameAnswer = Seq("k", "v", "seq")))
  ))

  private def wholeTable(rows: Long): Seq[Case] = {
    def top(function: String, order: String, target: Target): Case = Case(
      name = s"whole-table-${function.replace('_', '-')}",
      title = s"no PARTITION BY, n = 100, ${function.toUpperCase}",
      table = RankTables.events(rows),
      sql = topN("events", s"$function()", "", s"$order DESC", 100, "k", order, "payload"),
      compared = Seq("k", order, "payload", "rn"),
      targets = Seq(target)
    )

    Seq(
      top("row_number", "v", neverSlower),
      top("rank", "score", timesFaster(2)),
      top("dense_rank", "score", timesFaster(2)))
  }

  private def skewed(rows: Long): Seq[Case] = Seq(Case(
    name = "giant-key",
    title = "1,000 keys, one of them with 90 % of the rows, n = 10",
    table = RankTables.events(rows),
    sql = topN("events", "row_number()", "hot", "v DESC", 10, "hot", "v", "payload"),
    compared = Seq("hot", "v", "payload", "rn"),
    targets = Seq(timesFaster(5), slowestTaskAtMost(1.5))
  ))

  private def hardForHeaps(rows: Long): Seq[Case] = Seq(
    Case(
      name = "wide",
      title = "40 columns, half of them strings, n = 10",
      table = RankTables.wide(rows),
      sql = topN("wide", "row_number()", "k", "v DESC", 10, "*"),
      compared = RankTables.wide(rows).columns.map(_._1) :+ "rn",
      targets = Seq(timesFaster(4))
    ),
    Case(
      name = "n-1000",
      title = "1,000 keys, n = 1,000",
      table = RankTables.events(rows),
      sql = topN("events", "row_number()", "k", "v DESC", 1000, "k", "v", "payload"),
      compared = Seq("k", "v", "payload", "rn"),
      targets = Seq(neverSlower)
    ),
    Case(
      name = "rising-arrivals",
      title = "each row beats all before it, n = 10",
      table = RankTables.arrivals(rows),
      sql = topN("arrivals", "row_number()", "k", "seq DESC", 10, "k", "seq", "payload"),
      compared = Seq("k", "seq", "payload", "rn"),
      targets = Seq(neverSlower)
    ),
    Case(
      name = "texts",
      title = "strings as key and order key, n = 10",
      table = RankTables.texts(rows),
      sql = topN("texts", "row_number()", "k", "v DESC", 10, "k", "v", "seq"),
      compared = Seq("k", "v", "seq", "rn"),
      targets = Seq(neverSlower)
    ),
    Case(
      name = "two-order-keys",
      title = "two order keys, n = 10",
      table = RankTables.events(rows),
      sql = topN("events", "row_number()", "k", "score DESC, v", 10, "k", "score", "v", "payload"),
      compared = Seq("k", "score", "v", "payload", "rn"),
      targets = Seq(neverSlower)
    )
  )

  /** Between few keys, where heaps gain most, and a key for every row, where they step aside. */
  private def manyKeys(rows: Long): Seq[Case] = {
    def top(keys: Long, n: Int): Case = Case(
      name = s"keys-$keys-first-$n",
      title = f"$keys%,d keys, n = $n",
      table = RankTables.events(rows),
      sql = topN("events", "row_number()", s"pmod(v, $keys)", "v DESC", n, "v", "payload"),
      compared = Seq("v", "payload", "rn"),
      targets = Seq(neverSlower)
    )

    Seq(top(100000, 10), top(1000000, 1), top(1000000, 3))
  }

  private def nothingToGain(rows: Long): Seq[Case] = {
    val sorted = Case(
      name = "bucketed",
      title = "bucketed by the key and sorted, n = 10",
      table = RankTables.bucketed(rows),
      sql = topN("bucketed", "row_number()", "k", "v", 10, "k", "v", "payload"),
      compared = Seq("k", "v", "payload", "rn"),
      targets = Seq(neverSlower)
    )
    Seq(
      Case(
        name = "distinct-keys",
        title = "every key distinct, n = 10",
        table = RankTables.events(rows),
        sql = topN("events", "row_number()", "v", "seq", 10, "v", "seq", "payload"),
        compared = Seq("v", "seq", "payload", "rn"),
        targets = Seq(neverSlower)
      ),
      sorted,
      sorted.copy(
        name = "bucketed-in-order",
        title = "the same, with the order of the files trusted",
        settings = Map("spark.sql.legacy.bucketedTableScan.outputOrdering" -> "true")
      ),
      Case(
        name = "tiny",
        title = "1,000 rows in all, n = 10",
        table = RankTables.tiny,
        sql = topN("tiny", "row_number()", "k", "v DESC", 10, "k", "v", "payload"),
        compared = Seq("k", "v", "payload", "rn"),
        targets = Seq(neverSlower),
        repeat = 5
      )
    )
  }

  private def topN(
      table: String,
      function: String,
      keys: String,
      order: String,
      n: Int,
      columns: String*): String = {
    val partition = if (keys.isEmpty) "" else s"PARTITION BY $keys "
    s"SELECT * FROM (SELECT ${columns.mkString(", ")}, " +
      s"$function OVER (${partition}ORDER BY $order) AS rn FROM $table) WHERE rn <= $n"
  }
}
