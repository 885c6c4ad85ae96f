package io.firesteel.changelog.tablejoin

import io.firesteel.changelog.{ChangelogSuite, JoinedRows}
import io.firesteel.changelog.common.ChangelogConf
import org.apache.spark.sql.Row

/** Changelogs joined with tables that are no streams. */
class TableJoinSuite extends ChangelogSuite with JoinedRows {

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .sql("""SELECT * FROM VALUES ('a', 'Anna', 'en', 2), ('a', 'Anne', 'fr', 1), ('b', 'Bert', 'en', 2),
        ('c', 'Cleo', 'en', 3), (null, 'Nobody', 'en', 1), ('d', null, 'en', 1), ('a', 'Anna', 'en', 2)
        AS names(k, name, lang, least)""")
      .createOrReplaceTempView("names")
  }

  private val queries = Seq(
    s"SELECT c.k, n, name FROM $counts JOIN names ON c.k = names.k",
    s"SELECT * FROM $counts JOIN names USING (k)",
    s"SELECT c.k, n, name FROM $counts LEFT JOIN names ON c.k = names.k",
    s"SELECT c.k, s, name FROM $counts LEFT JOIN names ON c.k = names.k AND lang = 'en' AND n > 1",
    s"SELECT names.*, n FROM names JOIN $counts ON names.k = c.k AND n >= least WHERE s <> 3",
    s"SELECT n, name FROM names RIGHT JOIN $counts ON c.k = names.k AND c.n = names.least",
    s"SELECT k, n FROM $counts LEFT SEMI JOIN names ON c.k = names.k AND n > 1",
    s"SELECT k, n FROM $counts LEFT ANTI JOIN names ON c.k = names.k AND lang = 'fr'",
    s"SELECT lang, count(*) AS c, sum(n) AS n FROM $counts JOIN names ON c.k = names.k GROUP BY lang",
    s"""SELECT place, name FROM (SELECT * FROM (SELECT k, row_number() OVER (ORDER BY n DESC, k) AS place
       |FROM $counts) WHERE place <= 2) AS top LEFT JOIN names ON top.k = names.k AND lang = 'en'""".stripMargin,
    """SELECT name, n FROM (SELECT k, n FROM (SELECT *, row_number() OVER (ORDER BY n DESC, k) AS place FROM
      |(SELECT k, count(*) AS n FROM {t} GROUP BY k)) WHERE place <= 2) AS top JOIN names ON top.k = names.k""".stripMargin,
    "SELECT n, name FROM (SELECT count(*) AS n FROM {t}) AS c LEFT JOIN names ON c.n = names.least + 3",
    "SELECT d.k, name FROM (SELECT DISTINCT k FROM {t}) AS d LEFT JOIN names ON d.k = names.k",
    s"SELECT count(*) AS c, max(n) AS m FROM $counts JOIN names ON c.k = names.k",
    s"SELECT upper(lang) AS l, n FROM $counts JOIN names ON c.k = names.k AND least < n"
  )

  queries.zipWithIndex.foreach { case (sql, i) =>
    test(s"$i: ${sql.replace("\n", " ").take(100)}") {
      withProvider(providers(i % 2))(assertFollows(schema, sql, batches, restarts = Set(1, 3)))
    }
  }

  test("a row that the condition leaves out is not looked for, and may not fail") {
    assertFollows(
      schema,
      s"SELECT c.k, s, least FROM $counts JOIN names ON c.s <> 0 AND names.least = 2 / c.s",
      Seq(Seq(Row("a", 0), Row("b", 1)), Seq(Row("a", 2))))
  }

  test("complete mode") {
    val fed = stream(schema, queries.head)
    try {
      fed.startAs("complete", queries.head)
      batches.foreach(fed.feed)
      assertSameRows(fed.last, fed.answer(), queries.head)
    } finally fed.stop()
  }

  test("a row goes with the matches that it came with, whatever the table has since") {
    spark.udf.register("current_name", (k: String) => s"$k${TableJoinSuite.version}")
    spark
      .sql("SELECT k, current_name(k) AS name FROM VALUES ('a'), ('b') AS t(k)")
      .createOrReplaceTempView("changing")
    val fed =
      stream(schema, s"SELECT c.k, n, name FROM $counts JOIN changing ON c.k = changing.k")
    try {
      TableJoinSuite.version = 1
      fed.start()
      fed.feed(Seq(Row("a", 1), Row("b", 1)))
      TableJoinSuite.version = 2
      fed.feed(Seq(Row("a", 1)))
      assert(fed.last.map(_.toString).sorted == Seq("[a,1,a1,-D]", "[a,2,a2,+I]"))
      fed.restart()
      TableJoinSuite.version = 3
      fed.feed(Seq(Row("a", 1), Row("b", 1)))
      assert(fed.last.map(_.toString).sorted ==
        Seq("[a,2,a2,-D]", "[a,3,a3,+I]", "[b,1,b1,-D]", "[b,2,b3,+I]"))
    } finally fed.stop()
  }

  test("of the table only what is read is kept in state, and only its changes are told") {
    spark.udf.register("current_name", (k: String) => s"$k${TableJoinSuite.version}")
    spark
      .sql("""SELECT k, current_name(k) AS name, map(k, 1) AS tags, k || '!' AS loud
        FROM VALUES ('a'), ('a') AS t(k)""")
      .createOrReplaceTempView("wide")
    val fed = stream(schema, s"SELECT c.k, loud FROM $counts JOIN wide ON c.k = wide.k")
    try {
      TableJoinSuite.version = 1
      fed.start()
      fed.feed(Seq(Row("a", 1)))
      assert(fed.last.map(_.toString) == Seq("[a,a!,+I]", "[a,a!,+I]"))
      TableJoinSuite.version = 2
      fed.feed(Seq(Row("a", 1)))
      assert(fed.last.isEmpty)
    } finally fed.stop()
    assertFollows(
      schema,
      s"SELECT k, upper(loud) AS u FROM (SELECT c.k, n, loud FROM $counts JOIN wide ON c.k = wide.k) " +
        "WHERE n > 1 AND loud <> 'b!'",
      batches)
    val said = refusal(
      schema,
      s"SELECT c.k, tags, row_kind() AS op FROM $counts JOIN wide ON c.k = wide.k")
    assert(said.contains("Join would keep the column tags of type MAP"), said)
  }

  private val readOnce = Seq(
    s"SELECT c.k, n, name FROM $counts FULL JOIN names ON c.k = names.k",
    s"SELECT n, names.* FROM names LEFT JOIN $counts ON c.k = names.k",
    s"SELECT n, names.* FROM $counts RIGHT JOIN names ON c.k <=> names.k AND n > least",
    s"SELECT * FROM names WHERE k IN (SELECT k FROM $counts WHERE n > 1)",
    s"SELECT * FROM names WHERE k NOT IN (SELECT k FROM $counts WHERE k IS NOT NULL)",
    "SELECT * FROM names WHERE NOT EXISTS (SELECT 1 FROM {t} WHERE names.k = k AND v > least)",
    s"SELECT n, name FROM $counts JOIN names ON c.n > names.least",
    s"SELECT n, name FROM $counts CROSS JOIN names",
    s"SELECT n, name FROM $counts LEFT JOIN names ON c.k = names.k AND n > least",
    s"""SELECT name, count(*) FROM (SELECT k FROM $counts UNION ALL SELECT k FROM $counts) AS u
       |JOIN names ON u.k = names.k GROUP BY name""".stripMargin,
    s"SELECT k, n, n > 1 OR EXISTS (SELECT 1 FROM names WHERE names.k = c.k) AS known FROM $counts"
  )

  readOnce.zipWithIndex.foreach { case (sql, i) =>
    test(s"a table in state, $i: ${sql.replace("\n", " ").take(100)}") {
      withProvider(providers(i % 2))(assertFollows(schema, sql, batches, restarts = Set(1, 3)))
    }
  }

  test("a table whose rows stay in the result is read in the first micro-batch only") {
    spark.udf.register("current_name", (k: String) => s"$k${TableJoinSuite.version}")
    spark
      .sql("SELECT k, current_name(k) AS name FROM VALUES ('a'), ('b') AS t(k)")
      .createOrReplaceTempView("changing")
    val sql = s"SELECT changing.k, name, n FROM changing LEFT JOIN $counts ON c.k = changing.k"
    val fed = stream(schema, sql)
    try {
      TableJoinSuite.version = 1
      fed.start()
      fed.feed(Seq(Row("a", 1)))
      assert(fed.last.map(_.toString).sorted == Seq("[a,a1,1,+I]", "[b,b1,null,+I]"))
      TableJoinSuite.version = 2
      fed.restart()
      fed.feed(Seq(Row("b", 1)))
      assert(fed.last.map(_.toString) == Seq("[b,b1,null,-D]", "[b,b1,1,+I]"))
    } finally fed.stop()
  }

  test("a table in state stays, whatever the time to live") {
    val fed =
      stream(schema, s"SELECT names.k, name, n FROM names FULL JOIN $counts ON c.k = names.k")
    withConf(ChangelogConf.STATE_TTL.key -> "1s") {
      try {
        fed.start()
        fed.feed(Seq(Row("b", 1)))
        Thread.sleep(1500)
        fed.feed(Seq(Row("c", 1)))
        assert(fed.last.map(_.toString) == Seq("[c,Cleo,null,-D]", "[c,Cleo,1,+I]"))
      } finally fed.stop()
    }
  }

  test("rows that only come need no state to be joined with a table") {
    val pairs = "(SELECT x.k, y.v FROM {t} x JOIN {t} y ON x.k = y.k) p"
    Seq(
      s"SELECT p.k, v, name FROM $pairs JOIN names ON p.k = names.k",
      s"SELECT p.k, v, name FROM $pairs LEFT JOIN names ON p.k = names.k AND v > least",
      s"SELECT * FROM $pairs LEFT ANTI JOIN names ON p.k = names.k",
      s"SELECT name, max(v) FROM names JOIN $pairs ON v < least GROUP BY name"
    ).foreach { sql =>
      val fed = stream(schema, sql)
      try {
        fed.start()
        batches.foreach { rows =>
          fed.feed(rows)
          fed.difference.foreach(d => fail(s"$sql: $d"))
        }
        val joins =
          fed.running.lastProgress.stateOperators.map(_.operatorName).filter(_.contains("Join"))
        assert(joins.length == 1, joins.toSeq)
      } finally fed.stop()
    }
  }
}

private object TableJoinSuite {
  @volatile var version: Int = 0
}
