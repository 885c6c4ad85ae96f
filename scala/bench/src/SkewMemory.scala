package io.firesteel.bench

/**
 * Two columns of unique values, with nine tenths of the rows in one group. A set of that group's
 * values would need a multiple of its share of the heap.
 */
object SkewMemory {

  /** A prime that does not divide n, so n multiples of it visit each of n values once. */
  private val stride = 1000003L

  val hotGroup: MemoryCase =
    of(40000000L).copy(title = "Two distinct counts, one group with 36 million of 40 million rows")

  def of(rows: Long): MemoryCase = {
    require(rows % stride != 0, s"the number of rows must not be a multiple of $stride")
    require(rows % 10 == 0 && rows >= 10000, "a tenth of the rows must fill the other groups")
    MemoryCase(
      s"$rows rows",
      heapMiB = 1024,
      table(rows),
      Seq(Known(
        "two distinct counts",
        """SELECT count(*), sum(da), sum(db), max(da) FROM (
        |  SELECT k, count(DISTINCT a) AS da, count(DISTINCT b) AS db FROM hot_values GROUP BY k
        |)""".stripMargin,
        Seq(1000, rows, rows, rows / 10 * 9)
      ))
    )
  }

  /** Each of a and b takes every value from 0 to `rows` - 1 once. */
  private def table(rows: Long): Table = Table(
    "hot_values",
    rows,
    Seq(
      "k" -> "IF(id % 10 < 9, 0L, 1 + (id DIV 10) % 999)",
      "a" -> s"pmod(id * $stride, $rows)",
      "b" -> s"$rows - 1 - pmod(id * $stride, $rows)")
  )
}
