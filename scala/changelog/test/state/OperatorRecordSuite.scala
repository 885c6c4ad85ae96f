package io.firesteel.changelog.state

import io.firesteel.changelog.ChangelogSuite
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.testkit.SinceSpark

import java.nio.file.{Files, Path}

import scala.util.Random

import org.apache.spark.sql.{AnalysisException, Row}
import org.apache.spark.sql.internal.SQLConf

/** What a checkpoint keeps of the query, and which changes of it are told by that alone. */
class OperatorRecordSuite extends ChangelogSuite {

  private val schema = "k STRING, v INT, w INT, s STRING, st ARRAY<STRUCT<a: INT, b: INT>>"
  private val rows =
    Seq(Row("a", 1, 5, "x", Nil), Row("a", 2, 6, "y", Nil), Row("b", 3, 7, "z", Nil))

  /** The text of the error when a query is changed at a restart; none where it goes on. */
  private def changed(before: String, after: String): Option[String] = {
    val fed = stream(schema, before)
    try {
      fed.startAs("append", s"SELECT *, row_kind() AS op FROM ($before)")
      fed.feed(rows)
      fed.stop()
      fed.startAs("append", s"SELECT *, row_kind() AS op FROM ($after)")
      try {
        fed.feed(rows)
        None
      } catch { case e: Exception => Some(e.getMessage) }
    } finally fed.stop()
  }

  private def ranked(shown: String, where: String) =
    s"SELECT $shown FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v) AS p FROM {t}) WHERE $where"

  private val part = "WITH s AS (SELECT k, count(*) AS n, sum(v) AS x FROM {t} GROUP BY k) "

  private def twoReaders(filter: String) =
    s"${part}SELECT k, n FROM s WHERE $filter UNION ALL SELECT k, n FROM s WHERE n = 1"

  private def partOfPart(filter: String) =
    s"""$part, b AS (SELECT k, n FROM s WHERE n > 1) SELECT k, n FROM b WHERE $filter
       |UNION ALL SELECT k, -n FROM b UNION ALL SELECT k, 0 FROM s""".stripMargin

  private def tabled(join: String) =
    s"SELECT c.k, n, name FROM (SELECT k, count(*) AS n FROM {t} GROUP BY k) c $join VALUES ('a', 1) AS d(k, name) ON c.k = d.k"

  private def ofChanges(filter: String) =
    s"SELECT k, count(*) AS n FROM from_changelog(TABLE(SELECT *, '+I' AS op FROM {t})) WHERE $filter GROUP BY k"

  private def partOfChanges(filter: String) =
    s"""WITH c AS (SELECT * FROM from_changelog(TABLE(SELECT *, '+I' AS op FROM {t})) WHERE $filter)
       |SELECT k, count(*) AS n FROM c GROUP BY k UNION ALL SELECT s, count(*) FROM c GROUP BY s
       |""".stripMargin

  private def threeJoined(on: String) =
    s"SELECT a.k, c.v FROM {t} a JOIN {t} b ON a.k = b.k JOIN {t} c ON a.k = c.k $on"

  private val lists = "SELECT k, collect_list(w) AS l FROM {t} GROUP BY k"

  private def of(call: String) = s"SELECT k, $call AS x FROM {t} GROUP BY k"

  private def top(columns: String) =
    s"SELECT k, x, y FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY k) AS p FROM (SELECT k, $columns FROM {t} GROUP BY k)) WHERE p = 1"

  Seq(
    (
      "sum changed to avg",
      "SELECT k, sum(v) AS x FROM {t} GROUP BY k",
      "SELECT k, avg(v) AS x FROM {t} GROUP BY k",
      "sum(v)"),
    (
      "another column summed",
      "SELECT k, sum(v) AS x FROM {t} GROUP BY k",
      "SELECT k, sum(w) AS x FROM {t} GROUP BY k",
      "sum(w)"),
    ("a rank newly shown", ranked("k, v", "p <= 2"), ranked("k, v, p", "p <= 2"), "ROW_NUMBER"),
    (
      "HAVING added",
      "SELECT k, sum(v) AS x FROM {t} GROUP BY k",
      "SELECT k, sum(v) AS x FROM {t} GROUP BY k HAVING sum(v) > 3",
      "filters"),
    (
      "HAVING changed",
      "SELECT k, sum(v) AS x FROM {t} GROUP BY k HAVING sum(v) > 2",
      "SELECT k, sum(v) AS x FROM {t} GROUP BY k HAVING sum(v) > 3",
      "filters"),
    (
      "HAVING of a key changed",
      "SELECT k, sum(v) AS x FROM {t} GROUP BY k HAVING k > 'a'",
      "SELECT k, sum(v) AS x FROM {t} GROUP BY k HAVING k > 'b'",
      "filters"),
    (
      "a condition on the preserved side of a join changed",
      "SELECT l.k, l.v, x FROM {t} l LEFT JOIN (SELECT k, sum(v) AS x FROM {t} GROUP BY k) r ON l.k = r.k WHERE l.v > 1",
      "SELECT l.k, l.v, x FROM {t} l LEFT JOIN (SELECT k, sum(v) AS x FROM {t} GROUP BY k) r ON l.k = r.k WHERE l.v > 2",
      "filters"),
    (
      "a condition on a ranking's key",
      ranked("k, v", "p <= 2"),
      ranked("k, v", "p <= 2 AND k > 'a'"),
      "filters"),
    (
      "a filter above a ranking",
      ranked("k, v", "p <= 2"),
      ranked("k, v", "p <= 2 AND v > 1"),
      "filters"),
    (
      "a filter below another aggregate",
      "SELECT x, count(*) AS n FROM (SELECT k, sum(v) AS x FROM {t} GROUP BY k) GROUP BY x",
      "SELECT x, count(*) AS n FROM (SELECT k, sum(v) AS x FROM {t} GROUP BY k) WHERE x > 1 GROUP BY x",
      "filters"),
    (
      "columns in another order below a Top-N",
      top("sum(v) AS x, sum(w) AS y"),
      top("sum(w) AS y, sum(v) AS x"),
      "stored [k, sum(v), sum(w)] is now [k, sum(w), sum(v)]"),
    (
      "columns in another order below a join with a table",
      "SELECT x, y FROM (SELECT k, sum(v) AS x, sum(w) AS y FROM {t} GROUP BY k) JOIN VALUES ('a') AS p (k) USING (k)",
      "SELECT x, y FROM (SELECT k, sum(w) AS y, sum(v) AS x FROM {t} GROUP BY k) JOIN VALUES ('a') AS p (k) USING (k)",
      "stored"),
    (
      "a column twice that was another",
      "SELECT sum(v) AS x, sum(w) AS y, sum(v) AS z FROM {t} GROUP BY k",
      "SELECT sum(w) AS x, sum(w) AS y, sum(v) AS z FROM {t} GROUP BY k",
      "columns"),
    ("another field of an array's structs", of("max(st.a)"), of("max(st.b)"), "calls"),
    (
      "another pattern",
      of("bool_or(s LIKE ANY ('a%'))"),
      of("bool_or(s LIKE ANY ('b%'))"),
      "calls"),
    (
      "another schema",
      of("max(from_json(s, 'a INT').a)"),
      of("max(from_json(s, 'b INT').b)"),
      "calls"),
    ("nulls respected", of("collect_list(v)"), of("collect_list(v) RESPECT NULLS"), "calls"),
    (
      "another order within a group",
      of("percentile_cont(0.25) WITHIN GROUP (ORDER BY v)"),
      of("percentile_cont(0.25) WITHIN GROUP (ORDER BY v DESC)"),
      "calls"),
    (
      "another binary literal",
      of("count_if(CAST(s AS BINARY) = X'31')"),
      of("count_if(CAST(s AS BINARY) = X'32')"),
      "calls"),
    (
      "another key of its type",
      "SELECT v AS a, count(*) AS n FROM {t} GROUP BY v",
      "SELECT w AS a, count(*) AS n FROM {t} GROUP BY w",
      "keys [v]"),
    ("a filter of one reader of a part", twoReaders("n > 1"), twoReaders("n > 5"), "filters"),
    (
      "a filter between a part and a group above",
      s"${part}SELECT n, c FROM (SELECT n, count(*) AS c FROM s WHERE n > 1 GROUP BY n) UNION ALL SELECT n, x FROM s",
      s"${part}SELECT n, c FROM (SELECT n, count(*) AS c FROM s WHERE n > 2 GROUP BY n) UNION ALL SELECT n, x FROM s",
      "filters"),
    (
      "columns of a part that swap names",
      s"${part}SELECT k, n FROM s UNION ALL SELECT k, -x FROM s",
      s"${part.replace("AS n", "AS y").replace("AS x", "AS n").replace("AS y", "AS x")}SELECT k, n FROM s UNION ALL SELECT k, -x FROM s",
      "filters"),
    ("a filter above a part without state", partOfPart("n > 5"), partOfPart("n > 6"), "filters"),
    ("a filter of rows that may be retracted", ofChanges("v > 1"), ofChanges("v > 2"), "below"),
    (
      "LATERAL VIEW OUTER of rows that may be retracted",
      ofChanges("true").replace(" WHERE true", " LATERAL VIEW explode(st) AS e"),
      ofChanges("true").replace(" WHERE true", " LATERAL VIEW OUTER explode(st) AS e"),
      "below"),
    ("the same in a part", partOfChanges("v > 1"), partOfChanges("v > 2"), "below"),
    (
      "a filter between two joins by the same keys",
      threeJoined("AND a.v > 0"),
      threeJoined(""),
      "joined again"),
    ("LEFT JOIN with a table", tabled("LEFT JOIN"), tabled("JOIN"), "filters"),
    (
      "LATERAL VIEW OUTER",
      s"SELECT k, e FROM ($lists) LATERAL VIEW OUTER explode(l) AS e",
      s"SELECT k, e FROM ($lists) LATERAL VIEW explode(l) AS e",
      "filters")
  ).filter { case (name, _, _, _) =>
    SinceSpark.is("4.2") || name != "nulls respected" // before, RESPECT NULLS did nothing
  }.foreach { case (name, before, after, part) =>
    test(s"$name is refused, and the error names it") {
      val text = changed(before, after).getOrElse(fail("it goes on"))
      assert(text.contains("FIRESTEEL_CHANGELOG_STATE_MISMATCH") && text.contains(part), text)
    }
  }

  Seq(
    (
      "a column renamed",
      "SELECT k, sum(v) AS x FROM {t} GROUP BY k",
      "SELECT k AS q, sum(v) AS y FROM {t} GROUP BY k"),
    (
      "a column of a part renamed",
      s"${part}SELECT k, n FROM s UNION ALL SELECT k, -x FROM s",
      s"${part.replace("AS n", "AS y")}SELECT k, y FROM s UNION ALL SELECT k, -x FROM s"),
    (
      "columns in another order",
      "SELECT k, sum(v) AS x FROM {t} GROUP BY k",
      "SELECT sum(v) AS x, k FROM {t} GROUP BY k"),
    (
      "another filter of an append-only input",
      "SELECT k, sum(v) AS x FROM {t} GROUP BY k",
      "SELECT k, sum(v) AS x FROM {t} WHERE v > 1 GROUP BY k"),
    (
      "a filter of rows that only come",
      "SELECT DISTINCT k FROM {t}",
      "SELECT DISTINCT k FROM {t} WHERE k <> 'z'"),
    (
      "a binary literal",
      of("count_if(CAST(s AS BINARY) = X'31')"),
      of("count_if(CAST(s AS BINARY) = X'31')"))
  ).foreach { case (name, before, after) =>
    test(s"$name goes on")(assert(changed(before, after).isEmpty))
  }

  Seq(
    "a random key" -> "SELECT CAST(rand() * 2 AS INT) AS b, count(*) AS n FROM {t} GROUP BY 1",
    "a random argument" -> "SELECT k, max(b) AS b, count(c) AS c FROM (SELECT k, uuid() AS b, shuffle(array(v, w)) AS c FROM {t}) GROUP BY k",
    "the time in a key" -> "SELECT current_date() AS b, count(*) AS n FROM {t} GROUP BY current_date()",
    "the time in an argument" -> "SELECT k, max(b) AS b FROM (SELECT k, now() AS b FROM {t}) GROUP BY k",
    "the time below" -> "SELECT k, count(*) AS n FROM {t} WHERE now() > TIMESTAMP '2020-01-01' AND v < rand() + 9 GROUP BY k",
    "the session" -> "SELECT k, max(current_user() || current_database()) AS n FROM {t} GROUP BY k",
    "a lambda variable" -> "SELECT k, max(aggregate(transform(array(v, w), (x, i) -> x + i), 0, (a, x) -> a + x)) AS n FROM {t} GROUP BY k",
    "a scalar subquery" -> "SELECT k, n FROM (SELECT k, count(*) AS n FROM {t} GROUP BY k) WHERE n > (SELECT min(id) FROM RANGE(3))"
  ).foreach { case (name, sql) =>
    test(s"the same query with $name goes on")(assert(changed(sql, sql).isEmpty))
  }

  // Sums, a shared sum, counts, sets of three columns, an extreme of a set, Spark's own buffers.
  private val calls = Seq(
    "sum(v) AS a",
    "count(DISTINCT w) AS b",
    "avg(v) AS c",
    "max(x) AS d",
    "count(DISTINCT v, x) AS e",
    "count(*) AS f",
    "sum(DISTINCT x) AS g",
    "bool_or(v > 3) FILTER (WHERE w > 1) AS h",
    "percentile(v, 0.5) AS i",
    "percentile(v, 0.9) AS j",
    "min(w) AS l",
    "sum(CAST(w AS DOUBLE)) AS m"
  )

  for {
    provider <- providers
    retracting <- Seq(false, true)
    ttl = (provider == rocksDb) == retracting
  } test(
    s"calls in another order find their state: ${provider.split('.').last}, $retracting, $ttl") {
    val random = new Random(17)
    val from =
      if (retracting) "(SELECT k, z, max(v) AS v, sum(w) AS w, min(x) AS x FROM {t} GROUP BY k, z)"
      else "{t}"
    def asked(of: Seq[String]) = s"SELECT k, ${of.mkString(", ")} FROM $from GROUP BY k"
    def some(n: Int) = Seq.fill(n) {
      def number = if (random.nextInt(6) == 0) null else random.nextInt(9)
      Row(Seq("a", "b", "c", null)(random.nextInt(4)), number, number, number, random.nextInt(5))
    }
    withConf(
      SQLConf.STATE_STORE_PROVIDER_CLASS.key -> provider,
      ChangelogConf.STATE_TTL.key -> (if (ttl) "1d" else "0")) {
      val fed = stream("k STRING, v INT, w INT, x INT, z INT", asked(calls))
      try {
        fed.startAs("append", s"SELECT *, row_kind() AS op FROM (${asked(calls)})")
        fed.feed(some(40))
        (1 to 2).foreach { _ =>
          fed.stop()
          val shuffled = asked(random.shuffle(calls))
          val columns = ('a' to 'm').filterNot(_ == 'k').mkString(", ")
          fed.startAs("append", s"SELECT k, $columns, row_kind() AS op FROM ($shuffled)")
          (1 to 2).foreach { _ =>
            fed.feed(some(15))
            assert(fed.difference.isEmpty, fed.difference)
          }
        }
      } finally fed.stop()
    }
  }

  test("calls in another order find their state after a first micro-batch that failed") {
    def asked(calls: String) = s"SELECT k, $calls FROM {t} GROUP BY k"
    val orders =
      Seq("sum(v) AS a, max(w) AS b", "max(w) AS b, sum(v) AS a", "sum(v) AS a, max(w) AS b")
    val fed = stream(schema, asked(orders.head))
    def startAs(calls: String): Unit =
      fed.startAs("append", s"SELECT k, a, b, row_kind() AS op FROM (${asked(calls)})")
    try {
      startAs(orders.head)
      fed.failsNext = true
      assert(intercept[Exception](fed.feed(rows)).getMessage.contains("the sink fails"))
      orders.tail.foreach { calls =>
        fed.stop()
        startAs(calls)
        fed.feed(rows)
        assert(fed.difference.isEmpty, fed.difference)
      }
    } finally fed.stop()
  }

  test("a first micro-batch that failed is that of its query: the target may have its rows") {
    val fed = stream(schema, of("sum(v)"))
    def having(bound: Int) =
      s"SELECT *, row_kind() AS op FROM (${of("sum(v)")} HAVING sum(v) > $bound)"
    try {
      fed.startAs("append", having(2))
      fed.failsNext = true
      assert(intercept[Exception](fed.feed(rows)).getMessage.contains("the sink fails"))
      fed.startAs("append", having(3))
      val error = intercept[Exception](fed.feed(rows))
      assert(error.getMessage.contains("FIRESTEEL_CHANGELOG_STATE_MISMATCH"))
    } finally fed.stop()
  }

  test("a call that is there twice has two entries; an unknown one, or one too few, none") {
    val kept = new KeptCalls
    kept.recorded =
      Seq(CallRecord("a", Seq("a1")), CallRecord("b", Seq("b1")), CallRecord("a", Seq("a2")))
    assert(kept.columnsOf(Seq("b", "a", "a")).contains(Seq(Seq("b1"), Seq("a1"), Seq("a2"))))
    Seq(Seq("a", "a"), Seq("a", "b", "b"), Seq("a", "a", "b", "c"), Seq("a", "a", "a", "b"))
      .foreach(calls => assert(kept.columnsOf(calls).isEmpty, calls))
  }

  private def recordOf(checkpoint: String, operator: Int): Path =
    Path.of(checkpoint, "state", operator.toString, "_metadata", "firesteel")

  private def recorded(sql: String): String = {
    val fed = stream(schema, sql)
    try {
      fed.start()
      fed.feed(rows)
      Files.readString(recordOf(fed.checkpoint, 0))
    } finally fed.stop()
  }

  test("a record has no literals, no ids, and its state's columns by name") {
    val text = recorded(
      "SELECT upper(k) AS u, sum(v + 4711) AS x FROM {t} GROUP BY upper(k) HAVING sum(v + 4711) > 815")
    assert(!text.contains("4711") && !text.contains("815") && !text.contains("#"), text)
    val record = OperatorRecord.read(text).toOption.get
    assert(record.operator == "changelogAggregate" && record.distribution == Seq("aggregate_key_0"))
    val member = record.members.head
    assert(
      member.keys == Seq("upper(k)") && member.calls.head.text.startsWith("sum(add(v, int:") &&
        member.calls.head.columns.forall(_.startsWith("aggregate_sum_1_")),
      member
    )
    assert(record.differences(record).isEmpty && OperatorRecord.read(record.json).contains(record))
  }

  test("a checkpoint without a record, or an earlier version's, gets one; a later's is refused") {
    val fed = stream(schema, of("sum(v) AS w, max(st.a) AS y, count_if(CAST(s AS BINARY) = X'31')"))
    try {
      fed.start()
      fed.feed(rows)
      val file = recordOf(fed.checkpoint, 0)
      val record = Files.readString(file)
      Files.delete(file)
      fed.restart()
      fed.feed(rows)
      // What wrote no record read queries in the first way, and chose nothing.
      val choice =
        """"(removesShuffles|byPartialKey|sharesStores|mixesScans|sharesParts|tiesByKeys)":(true|false),"""
      val asFirst = choice.r.replaceAllIn(
        record.replace(s""""plan":${PlanVersion.current},""", """"plan":1,""")
          .replaceFirst(""""panesFrom":\d+""", """"panesFrom":0"""),
        """"$1":false,""")
      assert(fed.difference.isEmpty && Files.readString(file) == asFirst)
      // Version 1 had the text of a call alone, without details and stored columns.
      val early = Seq(
        """\{"call":("[^"]*"),"state":\[[^]]*]}""" -> "$1",
        """\{[0-9a-f]{16}}""" -> "",
        """binary:[0-9a-f]{4}""" -> "binary:0000",
        ""","stored":\[[^]]*]""" -> "",
        choice -> "",
        """"panesFrom":\d+,""" -> "",
        """"version":2,"plan":\d+""" -> "\"version\":1"
      ).foldLeft(record) { case (text, (part, by)) =>
        part.r.replaceAllIn(text, by)
      }
      assert(Seq("call\":", "{0", "stored").forall(!early.contains(_)) && early.contains("array"))
      Files.writeString(file, early)
      fed.restart()
      fed.feed(rows)
      assert(fed.difference.isEmpty && Files.readString(file) == asFirst)
      Files.writeString(file, record.replace("\"version\":2", "\"version\":9"))
      val text = intercept[AnalysisException](fed.restart()).getMessage
      assert(text.contains("FIRESTEEL_CHANGELOG_LATER_RECORD") && text.contains("9"))
      Files.writeString(file, record.replaceFirst(""""plan":\d+""", """"plan":99"""))
      val later = intercept[AnalysisException](fed.restart())
      assert(later.getCondition == "FIRESTEEL_CHANGELOG_LATER_RECORD")
    } finally fed.stop()
  }

  test("ids in the columns of an early record do not make it another query") {
    def record(column: String, plan: Int) = OperatorRecord(
      "Join",
      Nil,
      Nil,
      Nil,
      Seq(MemberRecord("Join", stored = Seq(column))),
      plan = plan)
    val now = record("right.v", PlanVersion.current)
    assert(now.differences(record("right.v#30L", PlanVersion.sharedParts)).isEmpty)
    assert(now.differences(record("right.w#30L", PlanVersion.sharedParts)).nonEmpty)
    assert(now.differences(record("right.v #1", PlanVersion.sharedParts)).nonEmpty)
    assert(now.differences(record("right.v#30L", PlanVersion.current)).nonEmpty)
  }
}
