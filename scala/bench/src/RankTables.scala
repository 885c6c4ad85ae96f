package io.firesteel.bench

/**
 * The tables of the rank cases.
 *
 * All values are hashes of the row number, so the data is equal on every machine. `v` is a 64-bit
 * hash, and unique in any table of this size: ROW_NUMBER over it has one right answer. `score` has
 * about a hundred rows for each value, so RANK and DENSE_RANK have ties to keep.
 */
object RankTables {

  private val keys = 1000

  private val k = "k" -> s"pmod(xxhash64(id, 1), $keys)"
  private val v = "v" -> "xxhash64(id, 4)"
  private val payload = "payload" -> "hex(xxhash64(id, 6))"

  /** The main table: narrow rows, 1,000 keys of equal weight, and one key of 90 % in `hot`. */
  def events(rows: Long): Table = Table(
    "events",
    rows,
    Seq(
      "seq" -> "id",
      k,
      "hot" -> s"IF(pmod(xxhash64(id, 2), 10) < 9, 0L, 1 + pmod(xxhash64(id, 3), ${keys - 1}))",
      v,
      "score" -> s"CAST(pmod(xxhash64(id, 5), ${math.max(rows / 100, 1)}) AS INT)",
      payload
    )
  )

  /** Keys and order keys as strings. */
  def texts(rows: Long): Table = Table(
    "texts",
    rows,
    Seq(
      "k" -> s"concat('customer-', lpad(CAST(pmod(xxhash64(id, 1), $keys) AS STRING), 6, '0'))",
      "v" -> "hex(xxhash64(id, 4))",
      "seq" -> "id"))

  /** Forty columns, half of them strings: rows are expensive to keep and copy. */
  def wide(rows: Long): Table = {
    val numbers = (1 to 18).map { i =>
      val hash = s"pmod(xxhash64(id, ${100 + i}), 1000000)"
      f"n$i%02d" -> (if (i % 2 == 0) s"$hash / 1000.0D" else hash)
    }
    val strings = (1 to 20).map { i =>
      f"s$i%02d" -> s"concat('item-', CAST(pmod(xxhash64(id, ${200 + i}), 10000) AS STRING))"
    }
    Table("wide", rows, Seq(k, v) ++ numbers ++ strings)
  }

  /** One file in order of arrival: with `seq DESC` every row beats all rows before it. */
  def arrivals(rows: Long): Table =
    Table("arrivals", rows, Seq("seq" -> "id", k, payload), files = 1)

  /** Clustered by key and sorted within, as in a careful warehouse. */
  def bucketed(rows: Long): Table =
    Table(
      "bucketed",
      rows,
      Seq(k, v, payload),
      buckets = Some(Buckets(8, by = "k", sortedBy = "v")))

  /** So few rows that planning and starting tasks dominate. */
  val tiny: Table =
    Table("tiny", 1000, Seq("k" -> "pmod(xxhash64(id, 1), 50)", v, payload), files = 1)
}
