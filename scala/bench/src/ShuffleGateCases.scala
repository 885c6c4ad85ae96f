package io.firesteel.bench

/**
 * With the gate off: how uneven a shuffle may be before it costs what it saves. These are the cases
 * that `minKeysPerPartition`, `maxKeyShare` and `KeyGate.groupsWorthSparing` must decline.
 *
 * Stock spreads groups of one row by (key, b), evenly. A second aggregate has few of them: a tenth
 * as many groups if one key is large, two for each key if keys are few. A window has all of them,
 * as unevenly as firesteel. Partitions are as many as cores, so no other task can compensate for a
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

  private val keysPerPartition = Seq(1, 3, 10, 100, 10000)

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
      val title = f"one key with ${share / 100.0}%.2f of a partition's mean, then aggregate by it"
      of(s"share-$share", title, grouped(s"share_$share"), Seq(s"share_$share", "n", "m"), rows)
    } ++ keysPerPartition.map { number =>
      val title = s"$number keys for each partition, then aggregate by them"
      of(s"keys-$number", title, grouped(s"keys_$number"), Seq(s"keys_$number", "n", "m"), rows)
    } ++ keysPerPartition.filter(_ <= 100).map { number =>
      val title = s"$number keys for each partition, then window by them"
      val compared = Seq(s"keys_$number", "b", "s", "r")
      of(s"ranked-$number", title, ranked(s"keys_$number"), compared, rows)
    }

  private def groups(key: String): String =
    s"(SELECT $key, b, sum(v) AS s FROM uneven_pairs GROUP BY $key, b)"

  private def grouped(key: String): String =
    s"SELECT $key, count(*) AS n, max(s) AS m FROM ${groups(key)} GROUP BY $key"

  private def ranked(key: String): String =
    s"SELECT $key, b, s, rank() OVER (PARTITION BY $key ORDER BY s DESC, b) AS r FROM ${groups(key)}"

  private def of(
      name: String,
      title: String,
      sql: String,
      compared: Seq[String],
      rows: Long): Case =
    Case(
      name = name,
      title = s"gate off: $title",
      table = table(rows),
      sql = sql,
      compared = compared,
      targets = Nil,
      settings = settings
    )
}
