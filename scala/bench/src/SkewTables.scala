package io.firesteel.bench

/**
 * The tables of the skew cases; all values are hashes of the row number.
 *
 * A *nearly unique* column has ten times as many possible values as the table has rows. A
 * *repeated* column has each value about fifty times in each of the 1,000 groups.
 */
object SkewTables {

  private val groups = 1000
  private val repeats = 50

  private def hash(seed: Int): String = s"xxhash64(id, $seed)"

  private def below(limit: Long, seed: Int): String = s"pmod(${hash(seed)}, ${math.max(limit, 1)})"

  /**
   * `k`: 1,000 equal groups; `hot`: one group has 90 % of the rows; `many`: a fifth of the rows.
   */
  def values(rows: Long): Table = Table(
    "values",
    rows,
    Seq(
      "k" -> below(groups, 1),
      "hot" -> s"IF(${below(10, 2)} < 9, 0L, 1 + ${below(groups - 1, 3)})",
      "many" -> below(rows / 5, 4),
      "a" -> below(rows * 10, 5),
      "b" -> below(rows * 10, 6),
      "a50" -> below(rows / groups / repeats, 7),
      "b50" -> below(rows / groups / repeats, 8),
      "v" -> below(1000, 9)
    )
  )

  val countedColumns: Seq[String] = (1 to 25).map(i => f"c$i%02d")
  val summedColumns: Seq[String] = (1 to 5).map(i => s"v$i")

  /** 25 columns to count, of 64-bit numbers, 32-bit numbers and strings, and 5 to sum. */
  def wide(rows: Long): Table = {
    val wideGroups = math.max(rows / 5000, 1)
    val counted = countedColumns.zipWithIndex.map { case (name, at) =>
      val value = below(5000 / repeats, 100 + at)
      name -> (
        if (at < 15) s"$value * 1000003"
        else if (at < 20) s"CAST($value AS INT)"
        else s"concat('item-', CAST($value AS STRING))"
      )
    }
    val summed = summedColumns.zipWithIndex.map { case (name, at) => name -> below(1000, 200 + at) }
    Table("counted", rows, ("k" -> below(wideGroups, 1)) +: (counted ++ summed))
  }

  /**
   * The columns of `store_sales` that q28 reads, with the generator's ranges: 4 % of quantities are
   * null, four of five rows have no coupon, a list price is a cost with a mark-up of up to 200 %.
   */
  def storeSales(rows: Long): Table = Table(
    "store_sales",
    rows,
    Seq(
      "ss_ticket_number" -> "id",
      "ss_quantity" -> s"IF(${below(25, 1)} = 0, NULL, CAST(1 + ${below(100, 2)} AS INT))",
      "ss_wholesale_cost" -> s"CAST((100 + ${below(9901, 3)}) / 100 AS DECIMAL(7,2))",
      "ss_list_price" ->
        s"CAST((100 + ${below(9901, 3)}) * (1 + ${below(201, 4)} / 100) / 100 AS DECIMAL(7,2))",
      "ss_coupon_amt" ->
        s"CAST(IF(${below(5, 5)} < 4, 0, ${below(2000000, 6)} / 100) AS DECIMAL(7,2))"
    )
  )

  val tiny: Table = values(1000).copy(name = "tiny_values", files = 1)
}
