package io.firesteel.bench

/** A sum by `OVER` of the readings of sensors, which come in the order of their times. */
final case class OverCase(name: String, keys: Int, frame: String) {

  /** All values but `ts` are hashes of the row number. */
  def table(rows: Long): Table = Table(
    s"readings_$keys",
    rows,
    Seq(
      "k" -> s"pmod(xxhash64(id, 1), $keys)",
      "ts" -> "1700000000000 + id",
      "v" -> "pmod(xxhash64(id, 2), 1000)"),
    OverMain.parts)

  /** Flink needs event time. It reads rows in the order of their times, so the watermark never waits. */
  def question(rows: Long): StreamingCase = {
    def query(by: String) =
      s"SELECT k, ts, v, SUM(v) OVER (PARTITION BY k ORDER BY $by $frame) AS s FROM readings_$keys"
    StreamingCase(
      name,
      name,
      "",
      table(rows),
      query("ts"),
      reads = Seq("k", "ts", "v"),
      answer = Seq("k", "ts", "v", "s"),
      target = Some(1.0),
      mode = "append", // no columns of the result are its key
      flink = FlinkDialect(
        columns = Seq(
          "event_time AS TO_TIMESTAMP_LTZ(ts, 3)",
          "WATERMARK FOR event_time AS event_time"),
        sql = Some(query("event_time"))
      )
    )
  }
}

object OverCases {

  private val hundredBefore = "ROWS BETWEEN 100 PRECEDING AND CURRENT ROW"

  val many: OverCase = OverCase("1000-keys", 1000, hundredBefore)
  val few: OverCase = OverCase("10-keys", 10, hundredBefore)
  val running: OverCase =
    OverCase("running", 1000, "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW")

  val all: Seq[OverCase] = Seq(many, few, running)
}
