package io.firesteel.bench

/**
 * Many keys of two rows each, in an order with equal keys far apart.
 *
 * Key `k` has the rows `v = 2k` and `v = 2k + 1`. With `v DESC` the latter is first.
 */
object RankMemory {

  /** A prime that does not divide n, so n multiples of it visit each of n keys once. */
  private val stride = 1000003L

  val twentyMillionKeys: MemoryCase = of(20000000L).copy(title = "20 million keys")

  def of(keys: Long): MemoryCase = {
    require(keys % stride != 0, s"the number of keys must not be a multiple of $stride")
    MemoryCase(s"$keys keys", heapMiB = 1024, table(keys), Seq(one(keys), ten(keys)))
  }

  private def table(keys: Long): Table = {
    val k = s"pmod(id * $stride, $keys)"
    Table("pairs", 2 * keys, Seq("k" -> k, "v" -> s"2 * $k + id DIV $keys"))
  }

  /** The first row of each key: the sum of 2k + 1, which is also the sum of rank times value. */
  private def one(keys: Long): Known =
    Known("n = 1", top(1), Seq(keys, keys * (keys - 1) / 2, keys * keys, keys * keys))

  /** Both rows of each key: sums of 4k + 1, and of 1 * (2k + 1) + 2 * 2k = 6k + 1. */
  private def ten(keys: Long): Known = Known(
    "n = 10",
    top(10),
    Seq(
      2 * keys,
      keys * (keys - 1),
      2 * keys * (keys - 1) + keys,
      3 * keys * (keys - 1) + keys))

  private def top(n: Int): String =
    s"""SELECT count(*), sum(k), sum(v), sum(rn * v) FROM (
       |  SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM pairs
       |) WHERE rn <= $n""".stripMargin
}
