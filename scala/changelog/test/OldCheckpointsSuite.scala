package io.firesteel.changelog

import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.testkit.{LongTest, SinceSpark}

import java.nio.file.{Files, Path, Paths}
import java.sql.Timestamp

import org.apache.spark.sql.Row
import org.apache.spark.sql.internal.SQLConf

/**
 * Checkpoints that earlier commits and earlier versions of Spark wrote, one of each kind of stateful
 * operator and each form of state store: each starts and goes on with the right answer. Spark reads
 * no checkpoint of a later version.
 *
 * The resources are never written anew: what they hold is what users have. A new kind of operator
 * adds a case, whose checkpoints are written, for each version of Spark, by
 * `FIRESTEEL_WRITE_CHECKPOINTS=1 SPARK=4.1 build/sbt 'changelog/testOnly *OldCheckpointsSuite'`;
 * files that are there already stay.
 */
class OldCheckpointsSuite extends ChangelogSuite {
  import OldCheckpointsSuite._

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .sql("SELECT * FROM VALUES ('a', 'Anna'), ('a', 'Anne'), ('b', 'Bert') AS names(k, name)")
      .createOrReplaceTempView("names")
    spark.udf.register("doubled", (n: Long) => 2 * n)
    val _ = spark.udf.register("shouted", (k: String) => if (k == null) k else s"$k!")
  }

  private val writes = sys.env.contains("FIRESTEEL_WRITE_CHECKPOINTS")

  for { query <- queries; if SinceSpark.is(query.since); store <- stores } test(
    s"${query.name}, ${store.name}") {
    check(query, store, spark.version.split('.').take(2).mkString("."))
  }

  /** The checkpoints of one version are always tried, all others in the long tests. */
  private def tags(written: String) = if (written == "4.1") Nil else Seq(LongTest)

  for {
    written <- Seq("4.0", "4.1", "4.2")
    if SinceSpark.isAfter(written) && !writes
    query <- queries
    if written >= query.since
    store <- stores
    if store.name != "rocksdb1"
  } test(s"${query.name}, ${store.name}, written by Spark $written", tags(written): _*) {
    check(query, store, written)
  }

  private def check(query: Query, store: Store, written: String): Unit = {
    val file = folder.resolve(written).resolve(s"${query.name}-${store.name}.zip")
    withConf(store.settings ++ query.settings: _*) {
      if (writes && !Files.exists(file)) write(query, file)
      goOn(query, file)
    }
  }

  private def newStream(query: Query): ChangelogStream = new ChangelogStream(
    spark,
    org.apache.spark.sql.types.StructType.fromDDL(query.schema),
    query.sql,
    query.source,
    query.watermark)

  private def start(query: Query, fed: ChangelogStream): Unit =
    if (query.isComplete) fed.startAs("complete", query.sql) else fed.start()

  private def write(query: Query, file: Path): Unit = {
    val fed = newStream(query)
    try {
      start(query, fed)
      query.before.foreach(fed.feed)
    } finally fed.stop()
    ZippedCheckpoint.write(Paths.get(fed.checkpoint), file)
  }

  private def goOn(query: Query, file: Path): Unit = {
    val fed = newStream(query)
    fed.checkpoint = ZippedCheckpoint.read(file).toString
    try {
      query.before.foreach(fed.addBefore)
      start(query, fed)
      fed.running.processAllAvailable()
      assert(fed.emitted.isEmpty, "nothing is told again")
      query.after.foreach { rows =>
        fed.feed(rows)
        if (query.isComplete) assertSameRows(fed.last, fed.answer(), query.sql)
        else fed.difference.foreach(d => fail(d))
      }
      val _ = assert(fed.emitted.nonEmpty)
    } finally fed.stop()
  }
}

private object OldCheckpointsSuite {

  final case class Store(name: String, settings: Seq[(String, Any)])

  private val provider = SQLConf.STATE_STORE_PROVIDER_CLASS.key
  private val version = SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key
  private val states = "org.apache.spark.sql.execution.streaming.state"

  val stores: Seq[Store] = Seq(
    Store("default", Seq(provider -> s"$states.HDFSBackedStateStoreProvider", version -> 1)),
    Store("rocksdb1", Seq(provider -> s"$states.RocksDBStateStoreProvider", version -> 1)),
    Store("rocksdb2", Seq(provider -> s"$states.RocksDBStateStoreProvider", version -> 2))
  )

  /** A folder for each version of Spark. */
  val folder: Path = Paths.get("scala/changelog/test-resources/checkpoints")

  /**
   * A query, what it was fed before its checkpoint was kept, and what it is fed now.
   *
   * @param since the first version of Spark whose checkpoints were kept
   */
  final case class Query(
      name: String,
      sql: String,
      before: Seq[Seq[Row]],
      after: Seq[Seq[Row]],
      schema: String = "k STRING, v INT",
      source: ChangelogStream.Source = ChangelogStream.Rows,
      settings: Seq[(String, Any)] = Nil,
      watermark: Option[(String, String)] = None,
      isComplete: Boolean = false,
      since: String = "4.0") {
    def kept: Query = copy(
      name = s"$name-ttl",
      settings = settings :+ (ChangelogConf.STATE_TTL.key -> "36500d"))
  }

  private def grows(name: String, sql: String) = Query(
    name,
    sql,
    Seq(
      Seq(Row("a", 1), Row("a", 2), Row("b", 3), Row(null, 5)),
      Seq(Row("b", 7), Row("c", 1), Row("b", 3), Row(null, null))),
    Seq(
      Seq(Row("a", 9), Row("b", 3), Row(null, 2)),
      Seq(Row("c", 4), Row("b", -2), Row("b", 8), Row("d", 3)))
  )

  private def shrinks(name: String, arguments: String, sql: String) = Query(
    name,
    sql,
    Seq(
      Seq(Row("a", 1, "+I"), Row("a", 2, "+I"), Row("b", 3, "+I"), Row("c", 5, "+I")),
      Seq(Row("b", 3, "-D"), Row("b", 7, "+I"), Row("d", 7, "+I"))),
    Seq(
      Seq(Row("a", 2, "-D"), Row("a", 4, "+I"), Row("c", 5, "-D")),
      Seq(Row("b", 7, "-D"), Row("e", 1, "+I"), Row("d", 7, "-U"), Row("d", 8, "+U"))),
    "k STRING, v INT, op STRING",
    new ChangelogStream.Changes(name => s"from_changelog(TABLE($name), 'op'$arguments)", present)
  )

  /** The rows that are there after changes of whole rows. */
  private def present(changes: Seq[Row]): Seq[Row] = changes.foldLeft(Vector.empty[Row]) {
    (rows, change) =>
      val row = Row.fromSeq(change.toSeq.init)
      if (Set("+I", "+U")(change.getString(2))) rows :+ row else rows.diff(Seq(row))
  }

  /** The newest row of each key. */
  private def newest(changes: Seq[Row]): Seq[Row] = changes.foldLeft(Map.empty[String, Row]) {
    (rows, change) =>
      val key = change.getString(0)
      if (Set("+I", "+U")(change.getString(2))) rows.updated(key, Row.fromSeq(change.toSeq.init))
      else rows - key
  }.values.toSeq

  private def keyed(name: String, arguments: String) = {
    val made = shrinks(name, arguments, "SELECT k, v FROM {t}")
    made.copy(
      before = made.before.map(_.filterNot(_ == Row("a", 1, "+I"))),
      source = new ChangelogStream.Changes(
        name => s"from_changelog(TABLE($name), 'op'$arguments)",
        newest)
    )
  }

  private val counts = "(SELECT k, count(*) AS c, sum(v) AS s FROM {t} GROUP BY k)"

  private def ranked(order: String, of: String, where: String, function: String = "row_number") =
    s"SELECT * FROM (SELECT *, $function() OVER (PARTITION BY $order) AS p FROM $of) WHERE $where"

  private def at(minute: Int, k: String, v: Int): Row =
    Row(Timestamp.valueOf(f"2026-01-01 ${12 + minute / 60}%02d:${minute % 60}%02d:00"), k, v)

  private val plain = Seq(
    grows(
      "aggregate",
      """SELECT k, count(*) AS c, sum(v) AS s, avg(v) AS a, min(v) AS lo, max(v) AS hi,
        |sum(CAST(v AS DOUBLE)) AS d, sum(CAST(v AS DECIMAL(38, 2))) AS w, stddev(v) AS sd,
        |count(DISTINCT v) AS n, sort_array(collect_list(v)) AS l FROM {t} GROUP BY k""".stripMargin
    ),
    grows("global", "SELECT count(*) AS c, count(DISTINCT k) AS n, max(v) AS hi FROM {t}"),
    grows("distinct", "SELECT DISTINCT k, v FROM {t}"),
    grows("buckets", "SELECT k, count(DISTINCT v) AS n FROM {t} GROUP BY k")
      .copy(settings = Seq(ChangelogConf.DISTINCT_BUCKETS.key -> 4)),
    grows(
      "retracting",
      s"""SELECT c, count(*) AS n, min(s) AS lo, max(k) AS hi, count(DISTINCT s) AS d,
         |sum(DISTINCT s) AS w, sort_array(collect_set(k)) AS l FROM $counts GROUP BY c""".stripMargin
    ),
    grows("topn", ranked("k ORDER BY v DESC", "{t}", "p <= 2")),
    grows("first", ranked("k ORDER BY v", "{t}", "p = 1")),
    grows("rank", ranked("k ORDER BY v", "{t}", "p <= 2", "rank")),
    grows("limit", "SELECT k, v FROM {t} ORDER BY v DESC NULLS LAST, k LIMIT 2 OFFSET 1"),
    grows("update-fast", ranked("s % 2 ORDER BY c DESC, k", counts, "p <= 2")),
    grows("retract", ranked("c ORDER BY s, k", counts, "p <= 2")),
    grows("retract-first", ranked("c ORDER BY s, k", counts, "p = 1")),
    shrinks("changes", "", "SELECT k, count(*) AS c, max(v) AS hi FROM {t} GROUP BY k"),
    keyed("normalize", ", keys => array('k')"),
    grows("tablejoin", s"SELECT c.k, c, name FROM $counts AS c LEFT JOIN names ON c.k = names.k"),
    grows("complete", s"SELECT c, count(*) AS n FROM $counts GROUP BY c").copy(isComplete = true)
  )

  private val windows = Query(
    "windows",
    """SELECT w, n, count(*) AS ks FROM
      |(SELECT window(ts, '1 hour') AS w, k, count(*) AS n FROM {t} GROUP BY window(ts, '1 hour'), k)
      |GROUP BY w, n""".stripMargin,
    Seq(Seq(at(1, "a", 1), at(2, "b", 1), at(61, "a", 1)), Seq(at(62, "b", 1), at(3, "a", 2))),
    Seq(Seq(at(63, "a", 1), at(64, "b", 2)), Seq(at(200, "c", 1))),
    "ts TIMESTAMP, k STRING, v INT",
    watermark = Some("ts" -> "10 minutes")
  )

  /**
   * The rows of both sides come from one stream: odd values left, even ones right. The first ones
   * have an entry of state for each row; of the others a key has so many rows that they are spread.
   */
  private val joins = {
    val left = "(SELECT k, v FROM {t} WHERE v % 2 = 1) AS l"
    val right = "(SELECT k AS rk, v AS rv FROM {t} WHERE v % 2 = 0) AS r"
    val full = shrinks("join", "", s"SELECT * FROM $left FULL JOIN $right ON k = rk AND v < rv")
    Seq(
      full.copy(
        before = full.before :+ Seq(Row("a", 2, "+I"), Row("b", 4, "+I"), Row("f", 6, "+I"))),
      grows("join-one", s"SELECT l.k, v, c, s FROM $left JOIN $counts AS r ON l.k = r.k")
    ).map(_.copy(since = "4.3"))
  }

  private val packedJoins = joins.map(query => query.copy(name = s"${query.name}-packed"))
    .map {
      case full if full.name.startsWith("join-packed") =>
        val many = (0 until 60).map(v => Row("a", v, "+I"))
        full.copy(
          before = full.before :+ many,
          after = full.after :+ (many.drop(7).map(r => Row(r(0), r(1), "-D")) :+ Row("a", 70, "+I"))
        )
      case other => other
    }

  /** Joins without an equality, of which one task once kept all rows. */
  private val values = Seq(
    shrinks("value", "", "SELECT k, v FROM {t} WHERE v > (SELECT avg(v) FROM {t})"),
    shrinks("not-in", "", "SELECT k, v FROM {t} WHERE v NOT IN (SELECT v + 1 FROM {t})"),
    shrinks(
      "or-join",
      "",
      """SELECT l.k, l.v, r.v AS rv FROM {t} AS l, {t} AS r
        |WHERE (l.k = r.k AND l.v < r.v) OR (l.k = r.k AND l.v > r.v + 2)""".stripMargin
    )
  ).map(_.copy(since = "4.3"))

  /** The same joins with rows in slots, or with an equality. */
  private val keyedValues = values
    .map(query => query.copy(name = s"${query.name}-keyed"))

  /** Functions over the rows around a row, and over all rows before it: one key has many blocks. */
  private val over = {
    val query = shrinks(
      "over",
      "",
      """SELECT k, v, sum(v) OVER (PARTITION BY k ORDER BY v) AS s, lag(v) OVER
        |(PARTITION BY k ORDER BY v) AS p FROM {t}""".stripMargin
    )
    query.copy(
      before = query.before :+ (10 until 700).map(v => Row("a", v, "+I")),
      after = query.after ++ Seq(
        Seq(Row("a", 700, "+I"), Row("a", 5, "+I")),
        (100 until 690).map(v => Row("a", v, "-D"))),
      since = "4.3"
    )
  }

  /**
   * Operators that answer when a window closes, and a snapshot: they have told nothing when their
   * checkpoint is kept, and what they tell then needs what it has.
   */
  private val once = {
    val tumble = "TUMBLE(TABLE({t}), DESCRIPTOR(ts), INTERVAL '10' MINUTE)"
    def query(name: String, sql: String) = Query(
      name,
      sql,
      before = Seq(Seq(at(1, "a", 1), at(2, "a", 1)), Seq(at(5, "b", 2), at(6, "c", 2))),
      after = Seq(
        Seq(at(3, "a", 101), at(7, "b", 102), at(9, "b", 103), at(6, "a", 104), at(600, "end", 0))),
      schema = "ts TIMESTAMP, k STRING, v INT",
      watermark = Some("ts" -> "0 seconds"),
      since = "4.3"
    )
    val keys = "window_start, window_end, k"
    Seq(
      query(
        "window-aggregate",
        s"SELECT $keys, count(*) AS n, sum(v) AS s, count(DISTINCT v) AS d FROM $tumble GROUP BY $keys " +
          "HAVING n > 2"),
      query(
        "window-join",
        s"SELECT l.k, l.v, r.v AS rv FROM $tumble AS l JOIN $tumble AS r ON l.window_start = r.window_start " +
          "AND l.window_end = r.window_end AND l.k = r.k AND l.v < 100 AND r.v > 100"
      ),
      query(
        "window-ranking",
        "SELECT window_end, k, v FROM (SELECT *, row_number() OVER (PARTITION BY window_start, window_end " +
          s"ORDER BY v DESC, k) AS place FROM $tumble) WHERE place <= 2 AND v > 100"
      ),
      query(
        "session-rows",
        s"SELECT $keys, count(*) AS n FROM SESSION(TABLE({t}) PARTITION BY (k), DESCRIPTOR(ts), " +
          s"INTERVAL '5' MINUTE) GROUP BY $keys HAVING n > 2"
      ),
      query(
        "snapshot",
        "SELECT l.k, l.v, r.n FROM {t} AS l JOIN SNAPSHOT(TABLE(SELECT k, count(*) AS n FROM {t} " +
          "WHERE v < 100 AND k <> 'end' GROUP BY k)) AS r ON l.k = r.k WHERE l.v > 100"
      )
    )
  }

  /** The same ranking with the rows of its places only, and sessions with rows in blocks, or folded. */
  private val onceSmaller = once.flatMap { query =>
    Map(
      "window-ranking" -> Seq("window-first"),
      "session-rows" -> Seq("session-rows-packed", "session-groups"))
      .getOrElse(query.name, Nil).map(name => query.copy(name = name))
  }

  /** Sessions that change. The groups of closed ones stay in the state of the first checkpoints. */
  private val sessions = once.head.copy(
    name = "session-window",
    sql = "SELECT session_window.start AS s, k, count(*) AS n, sum(v) AS t FROM {t} " +
      "GROUP BY session_window(ts, '5 minutes'), k",
    before = Seq(
      Seq(at(1, "a", 1), at(2, "a", 1)),
      Seq(at(50, "b", 2), at(56, "b", 2), at(53, "c", 2))),
    after = Seq(
      Seq(at(57, "b", 1), at(57, "c", 1)),
      Seq(at(600, "end", 0)),
      Seq(at(601, "end", 0), at(602, "a", 1)))
  )

  /**
   * Overlapping windows that answer once, and ones that change: the first checkpoints have a copy of
   * each row in each of its windows, the others have panes.
   */
  private val overlapping = {
    val hop = "HOP(TABLE({t}), DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '20' MINUTE)"
    val keys = "window_start, window_end, k"
    val atClose = once.head.copy(
      name = "hop",
      sql =
        s"SELECT $keys, sum(v) AS s, max(v) AS m, count(DISTINCT v) AS d FROM $hop GROUP BY $keys " +
          "HAVING count(*) > 2")
    val hour = "window(ts, '1 hour', '5 minutes')"
    val changing = windows.copy(
      name = "sliding",
      sql =
        s"SELECT k, $hour AS w, count(*) AS n, avg(v) AS a, max(v) AS m FROM {t} GROUP BY k, $hour",
      before = Seq(Seq(at(1, "a", 1), at(2, "b", 1), at(61, "a", 1)), Seq(at(62, "b", 1))),
      after = Seq(Seq(at(61, "a", 5), at(64, "b", 2)), Seq(at(200, "c", 1))),
      since = "4.3"
    )
    Seq("copies", "panes").flatMap { kept =>
      Seq(atClose, changing).map(query => query.copy(name = s"${query.name}-$kept"))
    }
  }

  /** Under a time to live that no test outlives, entries have the time at which they were written. */
  private val kept =
    plain.filter(q => Set("aggregate", "retracting", "topn", "retract", "normalize")(q.name))

  /**
   * Operators that need no shuffle between them, out of whose state entries are taken: each of the
   * first checkpoints has a store of its own.
   */
  private val neighbours = Seq(
    grows(
      "neighbours",
      s"SELECT k, sum(v) AS s FROM (${ranked("k ORDER BY v DESC", "{t}", "p <= 2")}) GROUP BY k").kept,
    windows.copy(
      name = "neighbour-windows",
      sql = "SELECT w, k, max(n) AS m, count(*) AS c FROM (SELECT window(ts, '1 hour') AS w, k, " +
        "count(*) AS n FROM {t} GROUP BY window(ts, '1 hour'), k) GROUP BY w, k"
    )
  ).map(_.copy(since = "4.3"))

  /** The same operators in one store. */
  private val sharing = neighbours.map(query => query.copy(name = s"${query.name}-shared"))

  /** Conditions above joins and groups, where plan version 14 has them. */
  private val conditions: Seq[Query] = {
    val left = s"SELECT l.k, l.v, r.c FROM {t} AS l LEFT JOIN $counts AS r ON l.k = r.k"
    Seq(
      grows("left-where", s"$left WHERE l.v > 1"),
      grows("narrowed", s"$left WHERE r.c > 1 AND l.v > 1"),
      grows("having-keys", "SELECT k, v, count(*) AS n FROM {t} GROUP BY k, v HAVING v > 1"),
      // Written by version 15 of plans.
      grows("narrowed-function", s"$left WHERE doubled(r.c) > 1"),
      grows(
        "groups-function",
        "SELECT k, m FROM (SELECT k, max(n) AS m FROM (SELECT k, v, count(*) AS n FROM {t} GROUP BY k, v) " +
          "GROUP BY k) WHERE length(shouted(k)) > 0"
      ),
      grows(
        "kept-beside",
        s"SELECT k, c FROM $counts WHERE c IN (SELECT id FROM range(1, 4)) AND c < 9"),
      grows(
        "ordered-limit",
        "SELECT k, v, (SELECT w FROM (SELECT length(k) AS w, v FROM {t} AS b WHERE b.k = a.k ORDER BY v) AS q LIMIT 1) AS f FROM {t} AS a")
    )
  }

  /** Written by version 16 of plans. */
  private val ofSixteen: Seq[Query] = {
    def changed(minute: Int, k: String, v: Int, op: String) =
      Row.fromSeq(at(minute, k, v).toSeq :+ op)
    def side(of: String) = s"(SELECT ts, v FROM {t} WHERE $of)"
    val moved = Query(
      "moved-times",
      s"SELECT l.v, count(*) AS n FROM ${side("k < 'm'")} l JOIN ${side("k >= 'm'")} r " +
        "ON l.v = r.v AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '10' MINUTE GROUP BY l.v",
      Seq(
        Seq(changed(1, "a", 1, "+I"), changed(5, "x", 1, "+I"), changed(3, "b", 2, "+I")),
        Seq(changed(6, "y", 2, "+I"))),
      Seq(
        Seq(changed(7, "z", 1, "+I"), changed(8, "y", 1, "+U")),
        Seq(changed(9, "b", 1, "+U"), changed(9, "x", 1, "-D"))),
      "ts TIMESTAMP, k STRING, v INT, op STRING",
      new ChangelogStream.Changes(
        name => s"from_changelog(TABLE($name), op => 'op', keys => array('k'))",
        _.groupBy(_.getString(1)).values.map(_.last).filter(_.getString(3) != "-D")
          .map(row => Row.fromSeq(row.toSeq.init)).toSeq
      ),
      watermark = Some("ts" -> "1 hour")
    )
    val implied = grows(
      "implied",
      s"SELECT l.k, l.c, r.s FROM $counts l JOIN $counts r ON l.k = r.k " +
        "WHERE l.k < 'd' AND (l.c = 1 AND r.s < 5 OR l.c = 2 AND r.s > 5 OR l.c > 2 AND r.s > 2)"
    )
    Seq(moved, implied)
  }

  /** Written by version 19 of plans: a join keeps the rows of the join below, some of them in buckets. */
  private val ofNineteen: Query = {
    def rows(k: String, from: Int, n: Int) = (from until from + n).map(v => Row(k, v))
    def noKey(values: Int*) = values.map(v => Row(null, v))
    def side(name: String, where: String) = s"(SELECT k, v FROM {t} WHERE $where) $name"
    Query(
      "joins-by-one-key",
      s"SELECT a.k, a.v, b.v AS bv, c.v AS cv FROM ${side("a", "v < 100")} JOIN " +
        s"${side("b", "v BETWEEN 100 AND 199")} ON a.k = b.k LEFT JOIN ${side("c", "v >= 200")} ON a.k = c.k",
      Seq(
        rows("a", 0, 20) ++ rows("a", 100, 3) ++ rows("b", 5, 1) ++ noKey(1, 101),
        rows("b", 105, 20) ++ rows("c", 200, 1) ++ rows("a", 1, 2)),
      Seq(
        rows("a", 200, 1) ++ rows("b", 205, 2) ++ rows("b", 6, 18),
        rows("c", 1, 1) ++ rows("c", 101, 1) ++ rows("a", 110, 2) ++ rows("a", 200, 1) ++
          noKey(201))
    )
  }

  val queries: Seq[Query] =
    plain ++ (windows +: kept.map(_.kept)) ++ joins ++ packedJoins ++ values ++ keyedValues ++
      Seq(joins.head.kept, over, over.kept) ++ once ++ onceSmaller ++
      overlapping ++ neighbours ++ sharing ++ conditions ++ ofSixteen :+ ofNineteen :+ sessions
}
