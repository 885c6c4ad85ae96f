package io.firesteel.lookup

import org.apache.spark.sql.Row

/** Flink's syntax wherever a session takes a text, and wherever it stores one. */
class LookupParserQueriesSuite extends LookupQuerySuite {

  private def withTables[T](names: String*)(body: => T): T =
    try body
    finally names.foreach(name => spark.sql(s"DROP TABLE IF EXISTS $name"))

  test("queries, common tables, subqueries and unions") {
    assertLookup(query)
    assertLookup(s"$query ORDER BY 1;")
    assertLookup(s"WITH q AS ($query) SELECT id FROM q")
    assertLookup(s"SELECT * FROM ($query)")
    assertLookup(s"SELECT id FROM range(9) WHERE id IN ($query)")
    assertLookup(s"SELECT (SELECT max(id) FROM ($query))", Row(2L))
    assertLookup(s"$query UNION ALL SELECT 7L", Row(1L), Row(2L), Row(7L))
    assertLookup(s"FROM ($query) |> WHERE id > 1", Row(2L))
  }

  test("EXPLAIN, DESCRIBE and CACHE of a query") {
    Seq(
      s"EXPLAIN EXTENDED $query",
      s"DESCRIBE QUERY $query",
      s"CACHE TABLE cached AS $query").foreach { sql =>
      seen = Nil
      spark.sql(sql).collect()
      assert(lookup.subsetOf(seen.toSet), sql)
    }
    spark.sql("UNCACHE TABLE cached")
  }

  test("INSERT and CREATE TABLE take their rows from a lookup join") {
    withTables("copy", "made") {
      spark.sql("CREATE TABLE copy (id BIGINT) USING parquet")
      spark.sql(s"INSERT INTO copy $query")
      assert(lookup.subsetOf(seen.toSet))
      seen = Nil
      spark.sql(s"CREATE TABLE made USING parquet AS $query")
      assert(lookup.subsetOf(seen.toSet))
      assertSameRows(spark.table("made").collect().toSeq, spark.table("copy").collect().toSeq, "")
    }
  }

  test("a temporary view keeps the user's text and answers by it") {
    spark.sql(s"CREATE OR REPLACE TEMPORARY VIEW v AS $query")
    assertLookup("SELECT * FROM v")
    spark.sql(s"ALTER VIEW v AS $query WHERE o.id > 1")
    assertLookup("SELECT * FROM v", Row(2L))
  }

  test("a view of the catalog keeps the user's text, which SHOW and DESCRIBE show") {
    withTables("d") {
      spark.sql("CREATE TABLE d USING parquet AS SELECT id, id AS ts FROM range(3)")
      val body = query.replace(" o JOIN t ", " d o JOIN d ")
      spark.sql(s"CREATE OR REPLACE VIEW kept AS\n  $body")
      try {
        assertLookup("SELECT * FROM kept", Row(0L), Row(1L), Row(2L))
        val shown = spark.sql("SHOW CREATE TABLE kept").head().getString(0)
        assert(shown.contains(body))
        val described = spark.sql("DESCRIBE EXTENDED kept").where("col_name = 'View Text'")
        assert(described.head().getString(1) == body)
        spark.sql(shown.replace("kept", "again"))
        assertLookup("SELECT * FROM again", Row(0L), Row(1L), Row(2L))
      } finally Seq("kept", "again").foreach(view => spark.sql(s"DROP VIEW IF EXISTS $view"))
    }
  }

  test("a name by IDENTIFIER, whose command is made later, keeps the user's text") {
    withTables("d", "named") {
      spark.sql("CREATE TABLE d USING parquet AS SELECT id, id AS ts FROM range(3)")
      val body = query.replace(" o JOIN t ", " d o JOIN d ")
      val rows = Seq(Row(0L), Row(1L), Row(2L))
      spark.sql(s"CREATE OR REPLACE VIEW IDENTIFIER('ke' || 'pt') AS $body")
      try {
        assertLookup("SELECT * FROM kept", rows: _*)
        assert(spark.sql("SHOW CREATE TABLE kept").head().getString(0).contains(body))
      } finally Seq("kept").foreach(view => spark.sql(s"DROP VIEW IF EXISTS $view"))
      spark.sql(s"CREATE TABLE IDENTIFIER('na' || 'med') USING parquet AS $body")
      spark.sql(s"INSERT INTO IDENTIFIER('na' || 'med') $body")
      assertSameRows(spark.table("named").collect().toSeq, rows ++ rows, "named")
    }
  }

  test("two views of one script keep their own texts, also when they differ in one letter") {
    withTables("d") {
      spark.sql("CREATE TABLE d USING parquet AS SELECT id, id AS ts, id AS tt FROM range(3)")
      val first = query.replace(" o JOIN t ", " d o JOIN d ")
      val second = first.replace("o.ts", "o.tt")
      spark.sql(
        s"BEGIN CREATE OR REPLACE VIEW one AS $first; CREATE OR REPLACE VIEW two AS $second; END")
      try {
        Seq("one" -> first, "two" -> second).foreach { case (view, body) =>
          assert(spark.sql(s"SHOW CREATE TABLE $view").head().getString(0).contains(body))
        }
      } finally Seq("one", "two").foreach(view => spark.sql(s"DROP VIEW IF EXISTS $view"))
    }
  }

  test("no command has a piece of the plain text") {
    Seq(
      s"DESCRIBE QUERY $query",
      s"CACHE TABLE cached AS $query",
      s"CREATE VIEW v COMMENT 'a' TBLPROPERTIES ('x'='o.ts') AS $query",
      s"ALTER VIEW v AS $query",
      s"CREATE TEMPORARY FUNCTION top() RETURNS BIGINT RETURN (SELECT max(id) FROM ($query))",
      s"CREATE FUNCTION rows() RETURNS TABLE (id BIGINT) RETURN $query",
      s"SET x = $query",
      s"DECLARE v BIGINT DEFAULT (SELECT max(id) FROM ($query))",
      s"MERGE INTO d USING ($query) AS s ON d.id = s.id WHEN MATCHED THEN DELETE",
      s"BEGIN IF EXISTS ($query) THEN SELECT 1L; END IF; END"
    ).foreach { sql =>
      val plan = parser.parsePlan(sql)
      assert(!deepText(plan).contains("'.t'") && !deepText(plan).contains("'table','c'"), sql)
    }
  }

  /** Everything that is in a node, whatever its string leaves out. */
  private def deepText(value: Any): String = value match {
    case many: Iterable[_] => many.map(deepText).mkString(" ")
    case product: Product => product.productIterator.map(deepText).mkString(" ")
    case other => String.valueOf(other)
  }

  test("a SQL function keeps the user's text") {
    val largest = s"SELECT max(id) FROM ($query)"
    spark.sql(s"CREATE TEMPORARY FUNCTION top() RETURNS BIGINT RETURN ($largest)")
    assertLookup("SELECT top()", Row(2L))
    spark.sql(s"CREATE TEMPORARY FUNCTION rows() RETURNS TABLE (id BIGINT) RETURN $query")
    assertLookup("SELECT id FROM rows()")
  }

  test("EXECUTE IMMEDIATE, with and without parameters") {
    val quoted = query.replace("'", "\\'")
    assertLookup(s"EXECUTE IMMEDIATE '$quoted'")
    assertLookup(s"EXECUTE IMMEDIATE '$quoted WHERE o.id > ?' USING 1", Row(2L))
    assertLookup(s"EXECUTE IMMEDIATE '$quoted WHERE o.id > :least' USING 1 AS least", Row(2L))
  }

  test("a script's statements, conditions and loops") {
    assertLookup(s"BEGIN $query; END")
    val largest = s"SELECT max(id) FROM ($query)"
    assertLookup(s"BEGIN DECLARE n BIGINT; SET n = ($largest); SELECT n; END", Row(2L))
    assertLookup(s"BEGIN IF EXISTS ($query) THEN SELECT 1L; END IF; END", Row(1L))
    assertLookup(
      s"BEGIN DECLARE n BIGINT DEFAULT 0; FOR r AS $query DO SET n = n + r.id; END FOR; " +
        "SELECT n; END",
      Row(3L))
  }

  test("variables of the text are replaced first") {
    spark.sql("SET dimension=c")
    spark.sql("SET clause=FOR SYSTEM_TIME AS OF o.ts")
    assertLookup(query.replace("'c'", "'${dimension}'"))
    assertLookup(query.replace("FOR SYSTEM_TIME AS OF o.ts", "${clause}"))
    withConf("spark.sql.variable.substitute" -> false) {
      assert(hintsOf(parser.parsePlan(query.replace("'c'", "'${dimension}'"))) ==
        Seq("LOOKUP(table=${dimension}, async=true)"))
    }
  }
}
