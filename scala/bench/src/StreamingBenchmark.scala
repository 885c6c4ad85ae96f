package io.firesteel.bench

/** The cases of streaming queries beside Flink. */
object StreamingBenchmark {

  private val keys = 1000

  /** Ten, so each of five micro-batches has two: a file for each core. */
  private val files = 10
  val filesPerBatch: Int = 2

  private def below(limit: Long, seed: Int): String =
    s"pmod(xxhash64(id, $seed), ${math.max(limit, 1)})"

  /** All values but `seq` are hashes of the row number. */
  private def table(name: String, rows: Long, columns: (String, String)*): Table =
    Table(s"stream_$name", rows, columns, files)

  def all(rows: Long): Seq[StreamingCase] =
    Seq(
      top10(rows),
      trending(rows),
      words(rows),
      distinct(rows),
      latest(rows))

  private def top10(rows: Long): StreamingCase = StreamingCase(
    "top-10",
    s"Top-10 of each of $keys keys, rows only come",
    "The place is not in the result, so a change emits one deletion and one insertion.",
    table("bids", rows, "k" -> below(keys.toLong, 1), "v" -> "xxhash64(id, 4)", "seq" -> "id"),
    topN("k, v, seq", "k", "v DESC", "stream_bids", 10),
    reads = Seq("k", "v", "seq"),
    answer = Seq("k", "v", "seq"),
    target = Some(2.0),
    mode = "append" // no columns of the result are its key
  )

  private def trending(rows: Long): StreamingCase = {
    val counted = "(SELECT category, item, COUNT(*) AS c FROM stream_views GROUP BY category, item)"
    StreamingCase(
      "trending",
      s"Top-10 items by count in each of $keys categories",
      "100 items to a category, all as frequent, so that places change as often as they can.",
      table(
        "views",
        rows,
        "category" -> below(keys.toLong, 1),
        "item" -> below(100, 2)),
      topN("category, item, c", "category", "c DESC, item", counted + " AS counted", 10),
      reads = Seq("category", "item"),
      answer = Seq("category", "item", "c"),
      target = Some(1.5)
    )
  }

  private def words(rows: Long): StreamingCase = StreamingCase(
    "words",
    "count and sum of a count per word, 100,000 words",
    "An aggregate over an aggregate: each changed count is retracted above and inserted again.",
    table("words", rows, "word" -> s"concat('word-', CAST(${below(100000, 1)} AS STRING))"),
    "SELECT COUNT(*) AS words, SUM(c) AS occurrences " +
      "FROM (SELECT word, COUNT(*) AS c FROM stream_words GROUP BY word) AS counted",
    reads = Seq("word"),
    answer = Seq("words", "occurrences"),
    target = Some(1.5)
  )

  private def distinct(rows: Long): StreamingCase = StreamingCase(
    "distinct",
    s"two COUNT(DISTINCT) and a sum by $keys keys, 90 % of the rows in one",
    s"One column has ${rows / 5} values, the other ${rows / 50}. " +
      "Flink splits the distinct counts into 1,024 buckets.",
    table(
      "visits",
      rows,
      "k" -> s"IF(${below(10, 2)} < 9, 0L, 1 + ${below(keys - 1L, 3)})",
      "a" -> below(rows / 5, 4),
      "b" -> below(rows / 50, 5),
      "v" -> below(1000, 6)),
    "SELECT k, COUNT(DISTINCT a) AS da, COUNT(DISTINCT b) AS db, SUM(v) AS total " +
      "FROM stream_visits GROUP BY k",
    reads = Seq("k", "a", "b", "v"),
    answer = Seq("k", "da", "db", "total"),
    target = Some(2.0),
    flink = FlinkDialect(settings = Map("table.optimizer.distinct-agg.split.enabled" -> "true"))
  )

  private def latest(rows: Long): StreamingCase = {
    val accounts = math.max(rows / 5, 1)
    def query(by: String) =
      topN("k, ts, v", "k", s"$by DESC", "stream_updates", 1)
    StreamingCase(
      "latest",
      f"the latest row of each of $accounts%,d keys",
      "`ts` is declared as event time in Flink, which deduplicates by it.",
      table(
        "updates",
        rows,
        "k" -> below(accounts, 1),
        "ts" -> "1700000000000 + id",
        "v" -> below(1000, 2)),
      query("ts"),
      reads = Seq("k", "ts", "v"),
      answer = Seq("k", "ts", "v"),
      target = Some(1.0),
      flink = FlinkDialect(
        columns =
          Seq("event_time AS TO_TIMESTAMP_LTZ(ts, 3)", "WATERMARK FOR event_time AS event_time"),
        sql = Some(query("event_time")))
    )
  }

  private def topN(columns: String, key: String, order: String, from: String, n: Int): String =
    s"SELECT $columns FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY $key ORDER BY $order) AS rn " +
      s"FROM $from) AS ranked WHERE rn <= $n"
}
