package io.firesteel.bench

/** The tables of the panes cases: unsorted readings of meters over thirty days. */
object PanesTables {

  private val start = 1767225600L // 2026-01-01 00:00:00 UTC
  private val seconds = 30L * 24 * 3600

  /**
   * @param meters each has the same number of readings; `v` is a whole number, and `x` a multiple
   *   of 1/1024, so its sums are exact in any order
   */
  private def readings(name: String, rows: Long, meters: Long): Table = Table(
    name,
    rows,
    Seq(
      "k" -> s"pmod(xxhash64(id, 1), ${math.max(meters, 1)})",
      "ts" -> s"timestamp_seconds($start + pmod(xxhash64(id, 2), $seconds))",
      "v" -> "pmod(xxhash64(id, 3), 1000)",
      "x" -> "pmod(xxhash64(id, 4), 1000000) / 1024.0D"
    )
  )

  /** A thousand meters, seven readings of each in an hour at 5 million rows. */
  def hourly(rows: Long): Table = readings("hourly", rows, 1000)

  /** As many meters as give six readings a minute, for any number of rows. */
  def minutely(rows: Long): Table = readings("minutely", rows, rows / 250000)

  val tiny: Table = readings("tiny_readings", 1000, 10).copy(files = 1)
}
