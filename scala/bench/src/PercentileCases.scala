package io.firesteel.bench

import io.firesteel.bench.Target.{atMostTimes, neverSlower, timesFaster}

/** Percentiles by key with Spark's own settings, and shapes in which Spark's hash map is small. */
object PercentileCases {

  private val list = "size of collect_list"

  def of(rows: Long): Seq[Case] = {
    def named(
        name: String,
        title: String,
        sql: String,
        targets: Seq[Target] = Seq(neverSlower),
        references: Seq[Reference] = Nil): Case =
      Case(
        name,
        title,
        SkewTables.values(rows),
        sql,
        compared = Seq("k", "p"),
        targets = targets,
        references = references)

    Seq(
      named(
        "percentile-key",
        "percentile, 1,000 groups",
        "SELECT k, percentile(a, 0.5) AS p FROM values GROUP BY k",
        Seq(timesFaster(2), atMostTimes(2, list)),
        Seq(Reference(list, "SELECT k, size(collect_list(a)) AS p FROM values GROUP BY k"))
      ),
      named(
        "percentile-double",
        "percentile of doubles, 1,000 groups",
        "SELECT k, percentile(a / 7, 0.5) AS p FROM values GROUP BY k",
        Seq(timesFaster(2))
      ),
      named(
        "percentile-several",
        "three percentiles of two columns and a sum, 1,000 groups",
        "SELECT k, array(median(a), percentile(a, 0.9), percentile(b, 0.1), sum(v)) AS p " +
          "FROM values GROUP BY k",
        Seq(timesFaster(2))
      ),
      named(
        "percentile-many",
        "percentile, five rows to a group",
        "SELECT many AS k, percentile(a, 0.5) AS p FROM values GROUP BY many"
      ),
      named(
        "percentile-unique",
        "percentile, nearly each row a group",
        "SELECT b AS k, percentile(a, 0.5) AS p FROM values GROUP BY b"
      ),
      named(
        "percentile-all",
        "percentile of all rows",
        "SELECT 1 AS k, percentile(a, 0.5) AS p FROM values"
      ),
      named(
        "percentile-equal",
        "percentile of equal numbers, 1,000 groups",
        "SELECT k, percentile(IF(a < 0, a, 3), 0.5) AS p FROM values GROUP BY k"
      ),
      named(
        "percentile-all-equal",
        "percentile of equal numbers, all rows",
        "SELECT 1 AS k, percentile(IF(a < 0, a, 3), 0.5) AS p FROM values"
      ),
      named(
        "percentile-all-few",
        "percentile of 100 different doubles, all rows",
        "SELECT 1 AS k, percentile(a50 / 7, 0.5) AS p FROM values"
      ),
      named(
        "percentile-few",
        "percentile of 100 different doubles, 1,000 groups",
        "SELECT k, percentile(a50 / 7, 0.5) AS p FROM values GROUP BY k"
      )
    )
  }
}
