package io.firesteel.bench

/**
 * How uneven a shuffle may be until it costs what it saves: what `minKeysPerPartition` and `maxKeyShare`
 * have to keep out, with the gate of these settings off.
 *
 * Of stock nothing is uneven here: it spreads groups of one row by (key, b), and of the second shuffle
 * little is left by then. There are as many partitions as cores, so that no other task can make up for a
 * large one.
 */
object ShuffleGateCases {

  private val partitions = 2

  private val settings: Map[String, String] = Map(
    "spark.firesteel.shuffle.minKeysPerPartition" -> "0",
    "spark.firesteel.shuffle.adaptiveLocalAggregate.enabled" -> "false",
    "spark.sql.shuffle.partitions" -> partitions.toString,
    "spark.sql.adaptive.coalescePartitions.enabled" -> "false"
  )

  /** In hundredths of a partition's mean. */
  private val shares = Seq(25, 50, 100, 150)

  private val keysPerPartition = Seq(1, 3, 10, 30, 100, 1000, 10000)

  private def table(rows: Long): Table = Table(
    "uneven_pairs",
    rows,
    shares.map { share =>
      s"share_$share" -> (s"IF(pmod(xxhash64(id, 1), ${100 * partitions}) < $share, 0L, " +
        s"pmod(xxhash64(id, 2), ${math.max(rows / 20, 1)}))")
    } ++ keysPerPartition.map { number =>
      s"keys_$number" -> s"pmod(xxhash64(id, 3), ${number * partitions})"
    } ++ Seq("b" -> "id", "v" -> "pmod(xxhash64(id, 6), 1000)")
  )

  def cases(rows: Long): Seq[Case] =
    shares.map { share =>
      of(
        s"share-$share",
        s"share_$share",
        f"one key with ${share / 100.0}%.2f of a partition's mean",
        rows)
    } ++ keysPerPartition.map { number =>
      of(s"keys-$number", s"keys_$number", s"$number keys for each partition", rows)
    } ++ keysPerPartition.take(5).map { number =>
      ranked(
        s"ranked-$number",
        s"keys_$number",
        s"$number keys for each partition, windows",
        rows)
    }

  private def ranked(name: String, key: String, title: String, rows: Long): Case = Case(
    name = name,
    title = s"gate off: $title",
    table = table(rows),
    sql =
      s"SELECT $key, b, s, rank() OVER (PARTITION BY $key ORDER BY s DESC, b) AS r FROM (SELECT $key, " +
        s"b, sum(v) AS s FROM uneven_pairs GROUP BY $key, b)",
    compared = Seq(key, "b", "s", "r"),
    targets = Nil,
    settings = settings
  )

  private def of(name: String, key: String, title: String, rows: Long): Case = Case(
    name = name,
    title = s"gate off: $title",
    table = table(rows),
    sql =
      s"SELECT $key, count(*) AS n, max(s) AS m FROM (SELECT $key, b, sum(v) AS s FROM uneven_pairs " +
        s"GROUP BY $key, b) GROUP BY $key",
    compared = Seq(key, "n", "m"),
    targets = Nil,
    settings = settings
  )
}
