package io.firesteel.json

import io.firesteel.core.decide.Explain
import io.firesteel.testkit.{BesideComet, SinceSpark}

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.internal.SQLConf

/** Queries over documents: the same answers, and how many scans they have. */
class FuseJsonSuite extends JsonSuite with AdaptiveSparkPlanHelper {

  private val schema =
    "'id BIGINT, name STRING, price DOUBLE, amount DECIMAL(10,2), at TIMESTAMP, day DATE, " +
      "ok BOOLEAN, user STRUCT<name: STRING, age: INT>, tags ARRAY<STRING>, m MAP<STRING, INT>'"

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.sql(
      """SELECT id, CASE WHEN id % 11 = 3 THEN NULL WHEN id % 13 = 5 THEN concat('{"id":', id)
        | WHEN id % 17 = 7 THEN concat('{"id":"', id, '","name":1.50}')
        | WHEN id % 19 = 8 THEN concat('[{"id":', id, '}]')
        | WHEN id % 23 = 9 THEN concat('{"id":', id, ',"id":1}') WHEN id % 29 = 1 THEN ''
        | ELSE concat('{"id":', id, ', "name":"n', id % 7, '\\u00e9", "price":', id / 4,
        |  ',"amount":', id * 0.005, ',"at":"2024-01-0', id % 9 + 1, 'T12:00:00.5Z","day":"2024-02-0',
        |  id % 9 + 1, '","ok":', id % 2 = 0, ',"user":{"name":"u', id % 5, '","age":', id % 90,
        |  '},"tags":["a","b', id % 3, '"],"m":{"k":', id, '},"extra":[1,{"x":null}]}') END AS j
        |FROM range(0, 400, 1, 2)""".stripMargin
    ).createOrReplaceTempView("made")
    spark.sql("SELECT * FROM made").write.saveAsTable("docs")
  }

  private def scans(sql: String): Seq[JsonScan] = {
    val data = spark.sql(sql)
    collectWithSubqueries(executed(data)) { case node: SparkPlan =>
      node.expressions.flatMap(_.collect { case scan: JsonScan => scan })
    }.flatten.distinct
  }

  private def originals(sql: String): Seq[Expression] =
    scans(sql).flatMap(_.outputs.map(_.original))

  /** The query has the answer of Spark, and so many scans of so many values together. */
  private def check(sql: String, count: Int, values: Int): Unit = {
    val _ = assertSameAnswer(sql)
    val found = scans(sql)
    val _ = assert(found.length == count && originals(sql).length == values, s"$sql\n$found")
  }

  test("documents that Spark takes for one by their order are two") {
    spark.sql(
      "SELECT '{\"a\":\"X\"}' COLLATE UTF8_LCASE AS x, '{\"a\":\"x\"}' COLLATE UTF8_LCASE AS y")
      .write.saveAsTable("cases")
    assertSameAnswer("SELECT get_json_object(greatest(y, x), '$.a') FROM cases " +
      "WHERE get_json_object(greatest(x, y), '$.a') = 'X' COLLATE UTF8_BINARY")
  }

  test("values of one projection share a scan") {
    check(
      s"""SELECT id, from_json(j, $schema).price p, from_json(j, $schema).name n,
         | get_json_object(j, '$$.user.name') u, get_json_object(j, '$$.tags[1]') t FROM docs
         |""".stripMargin,
      1,
      4
    )
    check("SELECT get_json_object(j, '$.id'), get_json_object(j, '$.name') FROM docs", 1, 2)
  }

  test("a document that rows reach by an earlier condition is read above it") {
    val two = "(SELECT j, concat(j, ' ') AS long, id FROM docs) t"
    check(
      s"SELECT get_json_object(long, '$$.name') FROM $two WHERE get_json_object(j, '$$.ok') = 'true' " +
        "AND get_json_object(long, '$.id') > '1'",
      2,
      3)
    val plan = executionOf(spark.sql(
      "SELECT get_json_object(k, '$.name') FROM (SELECT j, upper(j) AS k FROM docs) WHERE get_json_object(j, '$.ok') = 'true' " +
        "AND get_json_object(k, '$.ID') > '1'")).optimizedPlan
    val filters = plan.collect { case filter: Filter =>
      filter.child.exists(_.isInstanceOf[Filter])
    }
    assert(filters.count(identity) == 1, plan)
  }

  test("a correlated subquery that reads two values of a document") {
    spark.range(3).createOrReplaceTempView("few")
    val values = "concat(get_json_object(j, '$.name'), get_json_object(j, '$.price'))"
    Seq(
      s"SELECT id, (SELECT $values FROM docs WHERE get_json_object(j, '$$.id') = few.id LIMIT 1) FROM few",
      s"SELECT id, (SELECT $values FROM (SELECT max(j) AS j, m FROM (SELECT j, id % 3 AS m FROM made) GROUP BY m) WHERE m = few.id) FROM few"
    ).foreach(sql => assertSameAnswer(sql))
  }

  test("joins prune partitions by and below documents") {
    spark.sql("CREATE TABLE parts USING parquet PARTITIONED BY (p) AS " +
      "SELECT id AS v, concat('{\"a\":', id % 3, ',\"b\":', id % 5, '}') AS j, id % 10 AS p FROM range(1000)")
    spark.sql(
      "CREATE TABLE dims USING parquet AS SELECT id AS p, concat('{\"kind\":', id % 3, ',\"color\":', id % 2, '}') AS j FROM range(10)")
    try Seq(
        "SELECT sum(v) FROM parts f JOIN dims d ON f.p = d.p WHERE get_json_object(d.j, '$.kind') = '1' AND get_json_object(d.j, '$.color') = '1'",
        "SELECT a, b, v FROM (SELECT p, v, x.* FROM parts LATERAL VIEW json_tuple(j, 'a', 'b') x AS a, b) f JOIN dims d ON f.p = d.p WHERE d.j LIKE '%1%'",
        "SELECT v FROM parts f JOIN dims d ON f.p = d.p WHERE get_json_object(f.j, '$.a') = '1' AND get_json_object(f.j, '$.b') = '1' AND d.j LIKE '%1%'",
        "SELECT v FROM parts WHERE p = (SELECT max(CAST(get_json_object(j, '$.kind') AS INT)) FROM dims WHERE get_json_object(j, '$.color') = '1')"
      ).foreach { sql =>
        withConf(BesideComet.off :+ (SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> false): _*) {
          val scans =
            executed(spark.sql(sql)).collect { case scan: FileSourceScanExec =>
              scan.partitionFilters
            }
          assert(scans.exists(_.exists(_.sql.contains("subquery"))), s"$sql $scans")
        }
        assertSameAnswer(sql)
      }
    finally Seq("parts", "dims").foreach(name => spark.sql(s"DROP TABLE $name"))
  }

  test("one value has a scan in its place") {
    check(s"SELECT from_json(j, $schema) s FROM docs", 1, 1)
    check("SELECT upper(get_json_object(j, '$.name')) FROM docs", 1, 1)
  }

  test("a struct that is read field by field") {
    check(
      s"SELECT s.id, s.user.age, s.m['k'], s FROM (SELECT from_json(j, $schema) s FROM docs)",
      1,
      1)
    check("SELECT s.id, s.name FROM (SELECT from_json(j, 'id INT, name STRING') s FROM docs)", 1, 1)
    // Spark believes that the struct is null only for a null document.
    val built = s"named_struct('id', from_json(j, $schema).id, 'ok', from_json(j, $schema).ok)"
    check(s"SELECT $built FROM docs WHERE j LIKE '{%'", 1, 1)
    check(s"SELECT $built, from_json(j, $schema).tags FROM docs WHERE j LIKE '{%'", 1, 2)
  }

  test("values below an aggregate") {
    check(
      s"""SELECT from_json(j, $schema).user.name n, sum(from_json(j, $schema).price),
         | max(from_json(j, $schema).name), count(DISTINCT from_json(j, $schema).day) FROM docs GROUP BY 1
         |""".stripMargin,
      1,
      4
    )
    check(
      "SELECT sum(get_json_object(j, '$.id')), max(get_json_object(j, '$.name')) FROM docs",
      1,
      2)
    check("SELECT max(get_json_object(j, '$.name')) FROM docs", 1, 1)
    check(
      s"SELECT min(from_json(j, $schema).name), min_by(j, from_json(j, $schema).name) FROM docs",
      1,
      1)
    check(s"SELECT from_json(j, $schema).user u, count(*) FROM docs GROUP BY 1", 1, 1)
    check(
      s"SELECT collect_list(s.tags), first(s.name) FROM (SELECT from_json(j, $schema) s FROM docs WHERE id < 40)",
      1,
      1)
  }

  test("values of groups and of aggregates' results stay above the aggregate") {
    val (name, id) = ("get_json_object(j, '$.name')", "get_json_object(j, '$.id')")
    Seq(
      "SELECT get_json_object(max(j), '$.name'), get_json_object(max(j), '$.id') FROM docs",
      s"SELECT j, $name, $id FROM docs GROUP BY j",
      s"SELECT $name, max($id) FROM docs GROUP BY j",
      s"SELECT $name, max($name), max($id) FROM docs GROUP BY j",
      s"SELECT $name FROM docs WHERE $id IS NOT NULL GROUP BY j",
      s"SELECT upper($name), $id, count(*) FROM docs GROUP BY $name, $id",
      s"SELECT $name, sum(id) FILTER (WHERE $id > 3), max($id) FILTER (WHERE id > 2) FROM docs GROUP BY $name"
    ).foreach(assertSameAnswer(_))
  }

  test("a document that fails for rows that an earlier condition excludes") {
    val failing = "concat(j, 10 / (id - 4))"
    val _ = assertSameAnswer(
      s"""SELECT id FROM docs WHERE get_json_object(j, '$$.name') = 'n0' AND
         |get_json_object($failing, '$$.id') = '7' AND get_json_object($failing, '$$.name') = 'n0'
         |""".stripMargin)
  }

  test("interpreted comparisons of values of two rows") {
    withConf("spark.sql.codegen.factoryMode" -> "NO_CODEGEN") {
      Seq(
        // The first eight bytes are the same: an order compares these first.
        "SELECT get_json_object(j, '$.user'), max(j) FROM docs GROUP BY 1",
        "SELECT id FROM docs WHERE get_json_object(j, '$.user') IN (SELECT get_json_object(j, '$.user') FROM docs)"
      ).foreach(assertSameAnswer(_))
    }
  }

  test("documents that are computed between a projection and its filter") {
    val computed = "(SELECT to_json(struct(id, j)) d FROM docs)"
    val id = "get_json_object(d, '$.id')"
    check(s"SELECT $id, get_json_object(d, '$$.j') FROM $computed WHERE $id > 3", 1, 2)
    check(
      s"SELECT d, $id FROM $computed WHERE length($id) = 1 AND length(get_json_object(d, '$$.j')) > 9",
      1,
      2)
    // Another column comes between.
    check(
      s"SELECT n, get_json_object(d, '$$.j'), $id FROM (SELECT to_json(struct(id, j)) d, upper(j) n FROM docs) WHERE $id > 3",
      2,
      3)
  }

  test("documents that are computed below an aggregate") {
    check(
      s"""SELECT from_json(d, $schema).user.name n, sum(from_json(d, $schema).price) FROM
         |(SELECT concat(j, ' ') d FROM docs) GROUP BY 1""".stripMargin,
      1,
      2
    )
  }

  test("values of a filter and of the projection above it") {
    check(
      "SELECT id, get_json_object(j, '$.name') FROM docs WHERE get_json_object(j, '$.user.age') > 40 AND id > 3",
      1,
      2)
    check("SELECT id FROM docs WHERE get_json_object(j, '$.id') > 100", 1, 1)
    check(
      "SELECT id FROM docs WHERE get_json_object(j, '$.id') > 100 AND get_json_object(j, '$.ok') = 'true'",
      1,
      2)
    check(
      s"""SELECT from_json(j, $schema).name, count(*) FROM docs
         |WHERE from_json(j, $schema).price > 3 GROUP BY 1""".stripMargin,
      1,
      2)
  }

  test("conditions without JSON stay at the source") {
    val sql = "SELECT get_json_object(j, '$.a'), get_json_object(j, '$.b') FROM docs " +
      "WHERE id = 7 AND get_json_object(j, '$.id') = '7'"
    check(sql, 1, 3)
    assert(executed(spark.sql(sql)).toString.contains("EqualTo(id,7)"))
  }

  test("a condition that may fail stays after the one that protects it") {
    // Document 3 is null, so that no division by zero is reached.
    val protecting = "get_json_object(j, '$.name') IS NOT NULL"
    check(
      s"SELECT get_json_object(j, '$$.id') FROM docs WHERE $protecting AND 10 / (id - 3) > 0",
      2,
      2)
    val _ = assertSameOutcome(
      s"SELECT get_json_object(j, '$$.id') FROM docs WHERE 10 / (id - 3) > 0 AND $protecting")
    check(s"SELECT id FROM docs WHERE $protecting AND 10 / (id - 3) > 0", 1, 1)
  }

  test("a check for null stays before a part that can fail, as Spark's from_json keeps it") {
    spark.sql(
      "SELECT if(id = 3, NULL, id) AS kind, id, if(id = 3, '{\"n\":\"x\"}', '{\"n\":\"7\"}') AS j FROM docs")
      .write.saveAsTable("kinds")
    val number = "CAST(from_json(j, 'n STRING').n AS INT) > 3"
    val parts = "10 / (id - 3) > -100 AND from_json(j, 'n STRING').n = '7'"
    Seq(
      s"SELECT id FROM kinds WHERE kind IS NOT NULL AND $number",
      s"SELECT id, from_json(j, 'n STRING').n FROM kinds WHERE kind IS NOT NULL AND $parts",
      s"SELECT count(*) FILTER (WHERE kind IS NOT NULL AND $number) FROM kinds",
      "SELECT sum(from_json(j, 'm INT').m), count(*) FILTER (WHERE kind IS NOT NULL AND 10 / (id - 3) > 0) FROM kinds",
      "SELECT id FROM kinds WHERE 10 / (id - 3) IS NOT NULL AND from_json(j, 'n STRING').n = '7'"
    ).foreach { sql =>
      val _ = assertSameOutcome(sql)
      assert(fired(sql).contains("FuseJson"), sql)
    }
    val filtered =
      "SELECT sum(from_json(j, 'm INT').m), avg(10 / (id - 3)) FILTER (WHERE id <> 3) FROM kinds"
    val _ = assertSameOutcome(filtered)
    assert(declines(filtered) == Set("JSON.FILTER"))
  }

  test("a document that can fail is computed for from_json alone") {
    val document = "concat('{\"a\":', 10 / id, '}')"
    Seq(
      s"SELECT id <> 0 AND from_json($document, 'a INT').a = 1 AS x, id <> 0 AND from_json($document, 'b INT').b = 2 AS y FROM docs",
      s"SELECT id FROM docs WHERE (id = 0 OR from_json($document, 'a INT').a = 1) AND (id = 0 OR from_json($document, 'b INT').b = 2)"
    ).foreach { sql =>
      val _ = assertSameOutcome(sql)
      assert(fired(sql).contains("FuseJson"), sql)
    }
  }

  test("many long names before a short one") {
    val long = (0 until 40).map(i => s""""${"x" * 64}$i":0""").mkString("{", ",", ",\"n\":1}")
    check(s"SELECT get_json_object(if(id >= 0, '$long', j), '$$.n') FROM docs", 1, 1)
  }

  test("a document inside try_ functions, and operands that are evaluated first") {
    val document = "element_at(array(j), CAST(id AS INT) + 1)"
    def at(path: String) = s"get_json_object($document, '$$.$path')"
    Seq(
      s"SELECT ${at("id")} FROM docs WHERE try_to_binary(${at("name")}, 'hex') = X'01'",
      s"SELECT ${at("id")} FROM docs WHERE coalesce(pmod(CAST(${at("id")} AS INT), if(id = 0, 3, NULL)), 0) = 1",
      s"SELECT ${at("id")} FROM docs WHERE locate(${at("id")}, j, if(id = 0, 1, NULL)) > 0"
    ).foreach { sql =>
      val _ = assertSameOutcome(sql)
      assert(fired(sql).contains("FuseJson"), sql)
    }
  }

  test("an array and a column for corrupt records of the name value") {
    check(
      "SELECT from_json('[1,2]', 'array<int>', map('columnNameOfCorruptRecord', 'value')), id FROM docs",
      0,
      0)
  }

  test("a condition by chance") {
    val random = "get_json_object(j, '$.id') IS NOT NULL AND rand(3) >= 0"
    check(s"SELECT get_json_object(j, '$$.id') FROM docs WHERE $random", 1, 1)
  }

  test("json_tuple") {
    check(
      "SELECT id, x, y FROM docs LATERAL VIEW json_tuple(j, 'id', 'name', 'none') t AS x, y, z",
      1,
      // Spark leaves out what is not read.
      if (SinceSpark.is("4.1")) 2 else 3
    )
    check("SELECT json_tuple(j, 'name', 'user') FROM docs", 1, 2)
    check(
      "SELECT x FROM docs LATERAL VIEW OUTER json_tuple(j, 'name') t AS x WHERE x IS NOT NULL",
      1,
      1)
  }

  test("branches that only some rows reach keep a scan of their own") {
    check(
      "SELECT CASE WHEN id % 2 = 0 THEN get_json_object(j, '$.name') ELSE get_json_object(j, '$.id') END FROM docs",
      2,
      2)
    check(
      "SELECT coalesce(get_json_object(j, '$.none'), get_json_object(j, '$.id')) FROM docs",
      2,
      2)
    check(
      "SELECT get_json_object(j, '$.id') a, if(id > 5, get_json_object(j, '$.name'), 'x') b FROM docs",
      2,
      2)
  }

  test("an expression that may fail stays where it is") {
    val failing = s"from_json(j, $schema, map('mode', 'FAILFAST'))"
    val _ = assertSameOutcome(s"SELECT $failing FROM docs")
    val sql =
      s"SELECT if(j IS NOT NULL, $failing.name, 'x'), $failing.id FROM docs WHERE id IN (0, 2)"
    // The same struct twice, for Spark prunes a schema only without options.
    check(sql, 1, 1)
  }

  test("a time that ends in an error is read where Spark reads it") {
    val day =
      "from_json(concat('{\"k\":\"', id, '\",\"d\":\"2020-01-01', if(id = 0, '', 'abc'), '\"}'), 'd DATE').d"
    val isFirst = day.replace("from_json", "get_json_object").replace("'d DATE').d", "'$.k') = '0'")
    withConf("spark.sql.legacy.timeParserPolicy" -> "EXCEPTION") {
      Seq(
        s"SELECT $day FROM docs WHERE $isFirst",
        s"SELECT id FROM docs WHERE $isFirst AND $day IS NOT NULL",
        s"SELECT count(nullif(id, 0), $day), max($isFirst) FROM docs WHERE id < 2",
        s"SELECT $day FROM docs"
      ).foreach(assertSameOutcome(_))
    }
    val noZone = "from_json(j, 'id INT', map('timeZone', 'foo/bar')).id"
    Seq(
      s"SELECT $noZone FROM docs WHERE get_json_object(j, '$$.id') = '-1'",
      s"SELECT $noZone FROM docs").foreach(assertSameOutcome(_))
    assert(declines(s"SELECT $noZone FROM docs") == Set("JSON.OPTION"))
  }

  test("a document that fails is computed where Spark computes it") {
    val document = "element_at(array(j), CAST(id AS INT) + 1)"
    def at(path: String) = s"get_json_object($document, '$$.$path')"
    val isKnown = "if(id = 0, id, CAST(NULL AS BIGINT))"
    Seq(
      s"SELECT ${at("id")} FROM docs WHERE ($isKnown < length(${at("name")})) IS TRUE",
      s"SELECT ${at("id")} FROM docs WHERE coalesce($isKnown + length(${at("name")}), 0) > 0",
      s"SELECT ${at("id")} FROM docs WHERE elt(if(id = 0, 1, 2), ${at("id")}, '') = '0'",
      s"SELECT first(${at("id")}, true), first(${at("name")}, true) FROM docs",
      s"SELECT ${at("id")}, ${at("name")} FROM docs WHERE id = 0",
      s"SELECT ${at("id")}, ${at("name")} FROM docs"
    ).foreach { sql =>
      assertSameOutcome(sql)
      withConf("spark.sql.subexpressionElimination.enabled" -> false)(assertSameOutcome(sql))
    }
  }

  test("documents of documents") {
    check(
      "SELECT get_json_object(get_json_object(j, '$.user'), '$.name'), get_json_object(get_json_object(j, '$.user'), '$.age') FROM docs",
      2,
      3)
  }

  test("values of a LIMIT, an ORDER BY, a join, a subquery") {
    check("SELECT get_json_object(j, '$.name') n, id FROM docs ORDER BY n, id LIMIT 10", 1, 1)
    check(
      "SELECT a.id FROM docs a JOIN docs b ON get_json_object(a.j, '$.id') = b.id WHERE b.id < 50",
      0,
      0)
    check(
      "SELECT id, (SELECT max(get_json_object(j, '$.name')) FROM docs) m FROM docs WHERE get_json_object(j, '$.id') IN (SELECT get_json_object(j, '$.id') FROM docs)",
      3,
      3
    )
  }

  test("without generated code") {
    withConf(interpreted: _*) {
      check(s"SELECT from_json(j, $schema) s, get_json_object(j, '$$.name') FROM docs", 1, 2)
      check("SELECT max(get_json_object(j, '$.name')), first(j) FROM docs", 1, 1)
      check(
        "SELECT array(get_json_object(j, '$.id'), get_json_object(j, '$.name')) FROM docs",
        1,
        2)
    }
  }

  test("reasons") {
    assert(declines("SELECT from_json(j, 'v VARIANT').v FROM docs") == Set("JSON.TYPE"))
    assert(declines("SELECT from_json(j, 'i INTERVAL YEAR').i FROM docs") == Set("JSON.TYPE"))
    assert(declines("SELECT from_json(j, 'd DATE', map('dateFormat', 'yyyy')).d FROM docs") == Set(
      "JSON.OPTION"))
    assert(declines("SELECT get_json_object(j, '$.a[*].b') FROM docs") == Set("JSON.PATH"))
    assert(declines("SELECT transform(array(j), x -> get_json_object(x, '$.a')) FROM docs") == Set(
      "JSON.LAMBDA"))
    assert(
      declines("SELECT id FROM docs SORT BY get_json_object(j, '$.a')") == Set("JSON.OPERATOR"))
    assert(
      declines("SELECT id, a FROM docs LATERAL VIEW json_tuple(j, concat('a', id)) t AS a") == Set(
        "JSON.PATH"))
    withConf(JsonConf.ENABLED.key -> false) {
      assert(declines("SELECT get_json_object(j, '$.a') FROM docs") == Set("JSON.SWITCHED_OFF"))
    }
    withConf("spark.sql.legacy.timeParserPolicy" -> "LEGACY") {
      assert(declines("SELECT from_json(j, 'd DATE').d FROM docs") == Set("JSON.LEGACY"))
    }
    assert(fired("SELECT get_json_object(j, '$.a') FROM docs") == Seq("FuseJson"))
  }

  test("an operator counts its documents, and tells which Spark read and why") {
    val lines = (1 to 100).map(i => s"""{"a": $i, "b": "x"}""") ++
      Seq("{'a': 1}", """{"a": 1.5e3}""", """{"a": "1"}""", null)
    spark.createDataset(lines)(org.apache.spark.sql.Encoders.STRING).coalesce(1).toDF("j")
      .write.saveAsTable("counted")
    Seq("true", "false").foreach { generated =>
      withConf("spark.sql.codegen.wholeStage" -> generated) {
        val data = spark.sql(
          "SELECT from_json(j, 'a INT').a AS a, get_json_object(j, '$.b') AS b FROM counted")
        assert(data.collect().length == 104)
        val plan = executed(data)
        val counts = collectWithSubqueries(plan) { case its: JsonProjectExec => its.metrics }
          .flatten.map { case (name, its) => name -> its.value }.toMap
        val bytes = lines.filter(_ != null).map(_.length).sum
        assert(
          counts == Map(
            "jsonDocuments" -> 103L,
            "jsonBytes" -> bytes.toLong,
            "jsonNotPlain" -> 1L,
            "jsonInexact" -> 2L,
            "jsonUnseen" -> 0L),
          generated)
        val told = Explain.of(plan).fired.flatMap(_.values.get("read by Spark"))
        assert(told == Seq(
          "3 of 103 documents (1: not plain JSON; 2: a value is not exact, most often a INT)"))
      }
    }
  }
}
