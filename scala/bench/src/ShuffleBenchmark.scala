package io.firesteel.bench

import io.firesteel.bench.Target.{neverSlower, timesFaster}

/** The cases of the shuffle room: keys that spread rows well, and keys that do not. */
object ShuffleBenchmark extends Room {

  override def name: String = "shuffle"

  override def memory: Option[MemoryCase] = None

  /**
   * Values: `a` has a twentieth of the rows, `few` ten, `b` ten. In `hot` half of the rows have one
   * value. For `k` see its case.
   */
  private def pairs(name: String, rows: Long): Table = Table(
    name,
    rows,
    Seq(
      "a" -> s"pmod(xxhash64(id, 1), ${math.max(rows / 20, 1)})",
      "few" -> "pmod(xxhash64(id, 2), 10)",
      "hot" -> s"IF(pmod(xxhash64(id, 3), 2) = 0, 0L, pmod(xxhash64(id, 4), ${math.max(rows / 20, 1)}))",
      "b" -> "pmod(xxhash64(id, 5), 10)",
      "v" -> "pmod(xxhash64(id, 6), 1000)",
      "k" -> (s"IF(pmod(id, ${math.max(rows / 16, 1)}) < ${rows / 160}, id, " +
        "pmod(xxhash64(id, 7), 100000))")
    )
  )

  private val sampled: Map[String, String] =
    Map("spark.firesteel.shuffle.adaptiveLocalAggregate.sampleMinSize" -> "0")

  override def cases(rows: Long): Seq[Case] = {
    val table = pairs("pairs", rows * 4)
    def ranked(key: String, from: String = "pairs", other: String = "b") =
      s"SELECT $key, $other, s, rank() OVER (PARTITION BY $key ORDER BY s DESC, $other) AS r " +
        s"FROM (SELECT $key, $other, sum(v) AS s FROM $from GROUP BY $key, $other)"
    Seq(
      Case(
        name = "window",
        title = "aggregate by (a, b), window by a, 1 million values of a",
        table = table,
        sql = ranked("a"),
        compared = Seq("a", "b", "s", "r"),
        targets = Seq(timesFaster(1.5)),
        note = f"${rows * 4}%,d rows without statistics: the keys are counted in a sample."
      ),
      Case(
        name = "groups",
        title = "aggregate by (a, b) alone, 9 million groups",
        table = table,
        sql = "SELECT a, b, sum(v) AS s, count(*) AS n FROM pairs GROUP BY a, b",
        compared = Seq("a", "b", "s", "n"),
        targets = Seq(neverSlower),
        settings = sampled,
        note = "As if the table were large enough for a sample."
      ),
      Case(
        name = "changing",
        title = "aggregate by a key that only seems to be of one row each",
        table = table,
        sql = "SELECT k, sum(v) AS s, count(*) AS n FROM pairs GROUP BY k",
        compared = Seq("k", "s", "n"),
        targets = Seq(neverSlower),
        settings = sampled,
        note =
          "The first tenth of each sixteenth of the rows has keys of its own, the rest 100,000.",
        repeat = 3
      ),
      Case(
        name = "repeated",
        title = "aggregate by 100,000 values",
        table = table,
        sql = "SELECT pmod(a, 100000) AS k, sum(v) AS s, count(*) AS n FROM pairs GROUP BY 1",
        compared = Seq("k", "s", "n"),
        targets = Seq(neverSlower),
        note = "Too small a table for a sample on account of the local aggregate.",
        repeat = 3
      ),
      Case(
        name = "aggregate",
        title = "aggregate by (a, b), then by a",
        table = table,
        sql = "SELECT a, count(*) AS n, max(s) AS m FROM (SELECT a, b, sum(v) AS s FROM pairs " +
          "GROUP BY a, b) GROUP BY a",
        compared = Seq("a", "n", "m"),
        targets = Seq(neverSlower)
      ),
      Case(
        name = "neighbours",
        title = "ranked rows of (a, b) beside the ones before them",
        table = pairs("joined_pairs", rows),
        sql =
          s"WITH ranked AS (${ranked("a", "joined_pairs")}) SELECT l.a, l.b, l.s, r.s AS before " +
            "FROM ranked AS l JOIN ranked AS r ON l.a = r.a AND l.r = r.r + 1",
        compared = Seq("a", "b", "s", "before"),
        targets = Seq(neverSlower),
        note = "Sorted once on each side, where stock sorts twice: ranks come in their order."
      ),
      Case(
        name = "few",
        title = "the same window by ten values",
        table = table,
        sql = ranked("few", other = "a"),
        compared = Seq("few", "a", "s", "r"),
        targets = Seq(neverSlower),
        note = "Declined: ten values."
      ),
      Case(
        name = "hot",
        title = "the same window by a key with half of the rows on one value",
        table = table,
        sql = ranked("hot"),
        compared = Seq("hot", "b", "s", "r"),
        targets = Seq(neverSlower),
        note =
          "By its distinct (hot, b) the key is no larger than others; it is many values for a " +
            "few rows that count."
      ),
      Case(
        name = "tiny",
        title = "the same window of 1,000 rows",
        table = pairs("tiny_pairs", 1000),
        sql = ranked("a", "tiny_pairs"),
        compared = Seq("a", "b", "s", "r"),
        targets = Seq(neverSlower),
        repeat = 5
      )
    ) ++ Seq(
      ("stored", "as many", rows),
      ("stored-double", "twice as many", rows * 2),
      ("stored-half", "half as many", rows / 2)).map { case (name, many, stored) =>
      Case(
        name = name,
        title = s"join by (a, b) with a table of $many rows in buckets by a",
        table = pairs("joined_pairs", rows),
        sql = s"SELECT l.b, count(*) AS n, sum(l.v + r.v) AS s FROM stored.rows_$stored AS l " +
          "JOIN joined_pairs AS r ON l.a = r.a AND l.b = r.b GROUP BY l.b",
        compared = Seq("b", "n", "s"),
        targets = Seq(neverSlower),
        note = if (stored < rows) "Fewer rows, and more bytes than Parquet." else "",
        prepare = _.conf.set(
          s"spark.sql.catalog.${StoredCatalog.name}",
          classOf[StoredCatalog].getName)
      )
    } ++ ShuffleGateCases.cases(rows)
  }
}
