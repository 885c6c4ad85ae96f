package io.firesteel.bench

import io.firesteel.bench.Target.{atMostTimes, neverSlower, timesFaster}

/** The cases of the panes room: sliding windows of growing size, and cases without gain. */
object PanesBenchmark extends Room {

  override def name: String = "panes"

  override def cases(rows: Long): Seq[Case] =
    Seq(hourly(rows)) ++ growing(rows) ++ otherFunctions(rows) ++ nothingToGain(rows)

  override def memory: Option[MemoryCase] = None

  private val sums = "sum(v) AS s, count(*) AS n"
  private val windows = Seq("k", "start")

  private def windowed(table: String, size: String, slide: String, calls: String): String =
    s"SELECT k, window.start AS start, $calls FROM $table GROUP BY k, window(ts, '$size', '$slide')"

  private def hourly(rows: Long): Case = Case(
    name = "day-by-hour",
    title = "sum and count, a day by an hour, 1,000 keys",
    table = PanesTables.hourly(rows),
    sql = windowed("hourly", "1 day", "1 hour", sums),
    compared = windows ++ Seq("s", "n"),
    targets = Seq(timesFaster(10))
  )

  /** Windows end every minute and span more and more minutes; a row is in as many windows. */
  private def growing(rows: Long): Seq[Case] = {
    def of(minutes: Int, tableRows: Long, references: Seq[Reference], targets: Target*): Case =
      Case(
        name = s"size-$minutes",
        title = f"sum and count, size / slide = $minutes%,d",
        table = PanesTables.minutely(tableRows),
        sql = windowed("minutely", s"$minutes minutes", "1 minute", sums),
        compared = windows ++ Seq("s", "n"),
        targets = targets,
        references = references,
        note =
          f"$tableRows%,d rows, of which stock makes ${tableRows * minutes}%,d; one or more keys, " +
            "six rows for each of its minutes.",
        sizeOverSlide = Some(minutes)
      )

    val twentieth = math.max(rows / 20, 1)
    val shorter = "firesteel at 24"
    Seq(
      of(2, rows, Nil, neverSlower),
      of(24, rows, Nil, timesFaster(10)),
      of(168, rows, Nil, timesFaster(50)),
      of(
        1440,
        twentieth,
        Seq(Reference(
          shorter,
          windowed("minutely", "24 minutes", "1 minute", sums),
          firesteel = true)),
        timesFaster(200),
        atMostTimes(2, shorter)
      )
    )
  }

  private def otherFunctions(rows: Long): Seq[Case] = {
    def of(what: String, call: String, tableRows: Long): Case = Case(
      name = what.replace(' ', '-'),
      title = s"$what, a day by an hour",
      table = PanesTables.hourly(tableRows),
      sql = windowed("hourly", "1 day", "1 hour", s"$call AS f"),
      compared = windows :+ "f",
      targets = Seq(timesFaster(5))
    )

    val fewer = math.max(rows / 10, 1)
    val objects = Map("spark.sql.objectHashAggregate.sortBased.fallbackThreshold" -> "10000000")
    val note =
      f"$fewer%,d rows. Stock hashes objects for up to 10,000,000 groups in a task, where it " +
        "would by default begin to sort after 128."
    Seq(
      of("avg of double", "avg(x)", rows)
        .copy(note = "Values are multiples of 1/1024, whose sums are exact in any order."),
      of("max", "max(v)", rows),
      of("collect_list", "collect_list(v)", fewer).copy(
        checked = Some(windowed("hourly", "1 day", "1 hour", "sort_array(collect_list(v)) AS f")),
        settings = objects,
        note = note),
      of("a user-defined aggregate", s"${SumOfSquares.function}(v)", fewer).copy(
        name = "user-defined",
        settings = objects,
        prepare = SumOfSquares.register,
        note = note)
    )
  }

  private def nothingToGain(rows: Long): Seq[Case] = Seq(
    Case(
      name = "tumbling",
      title = "sum and count, size = slide, an hour",
      table = PanesTables.hourly(rows),
      sql = windowed("hourly", "1 hour", "1 hour", sums),
      compared = windows ++ Seq("s", "n"),
      targets = Seq(neverSlower)
    ),
    Case(
      name = "two-hours-by-hour",
      title = "sum and count, size / slide = 2, 1,000 keys",
      table = PanesTables.hourly(rows),
      sql = windowed("hourly", "2 hours", "1 hour", sums),
      compared = windows ++ Seq("s", "n"),
      targets = Seq(neverSlower)
    ),
    Case(
      name = "sparse",
      title = "sum and count, a day by a minute, panes of one row",
      table = PanesTables.hourly(math.max(rows / 500, 1)),
      sql = windowed("hourly", "1 day", "1 minute", sums),
      compared = windows ++ Seq("s", "n"),
      targets = Seq(neverSlower),
      note = "A row is in 1,440 windows and nearly alone in each: the answer is as large as what " +
        "stock expands."
    ),
    Case(
      name = "tiny",
      title = "1,000 rows in all, a day by an hour",
      table = PanesTables.tiny,
      sql = windowed("tiny_readings", "1 day", "1 hour", sums),
      compared = windows ++ Seq("s", "n"),
      targets = Seq(neverSlower),
      repeat = 5
    )
  )
}
