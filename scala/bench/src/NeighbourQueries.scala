package io.firesteel.bench

/**
 * A query of a stream whose operators are neighbours.
 *
 * @param columns of whole numbers that have one right value
 * @param keys of the table `t`; none reads the tables of Nexmark
 * @param settings beside the switches, where operators are together
 * @param onDisk whether it is asked with state in RocksDB, too
 */
final case class NeighbourQuery(
    title: String,
    sql: String,
    columns: Seq[String],
    bound: Bound,
    keys: Option[Long] = None,
    settings: Map[String, String] = Map.empty,
    onDisk: Boolean = false)

object NeighbourQueries {

  private val many = Some(1000000L)

  private def first(n: Int, of: String, order: String): String =
    s"(SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY $order) AS rn FROM $of) " +
      s"WHERE rn <= $n)"

  private val topThenSum =
    s"SELECT k, sum(v) AS s, max(id) AS m FROM ${first(5, "t", "v DESC, id")} GROUP BY k"

  private val sums = Seq("k", "s", "m")

  val all: Seq[NeighbourQuery] = Seq(
    NeighbourQuery("Top-5, then an aggregate", topThenSum, sums, Bound.AtLeast(1.3), many),
    NeighbourQuery(
      "Top-5, then an aggregate",
      topThenSum,
      sums,
      Bound.AtLeast(1),
      Some(1000),
      onDisk = true),
    NeighbourQuery(
      "by key and item, Top-5 of each key, by key",
      "SELECT k, sum(n) AS s, max(item) AS m FROM " +
        first(5, "(SELECT k, item, sum(v) AS n FROM t GROUP BY k, item)", "n DESC, item") +
        " GROUP BY k",
      sums,
      Bound.AtLeast(1.4),
      many,
      Map("spark.firesteel.changelog.shuffleByPartialKey.enabled" -> "true")
    ),
    NeighbourQuery(
      "two aggregates joined, then an aggregate",
      "SELECT a.k, count(*) AS c, max(n) AS n, max(m) AS m FROM (SELECT k, count(*) AS n FROM t " +
        "GROUP BY k) a JOIN (SELECT k, max(v) AS m FROM t GROUP BY k) b ON a.k = b.k GROUP BY a.k",
      Seq("k", "c", "n", "m"),
      Bound.AtLeast(1.5),
      many
    ),
    NeighbourQuery(
      "one aggregate, without a neighbour",
      "SELECT k, sum(v) AS s, max(id) AS m FROM t GROUP BY k",
      sums,
      Bound.AtLeast(0.95),
      many),
    nexmark("q9"),
    nexmark("q23")
  )

  private def nexmark(name: String): NeighbourQuery =
    NeighbourQuery(
      s"Nexmark $name",
      NexmarkEvents.sql(name),
      NexmarkQueries.of(name).answer,
      Bound.AtLeast(1.3))
}
