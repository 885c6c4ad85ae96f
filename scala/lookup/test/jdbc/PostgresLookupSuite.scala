package io.firesteel.lookup.jdbc

import io.firesteel.core.errors.FiresteelException
import java.io.{BufferedReader, InputStreamReader}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{AnalysisException, Row}
import org.apache.spark.sql.types.StructType

/** Lookups in a real PostgreSQL, which `tests/python/postgres_server.py` starts. */
class PostgresLookupSuite extends JdbcSuite {

  private lazy val server: Process =
    new ProcessBuilder(
      System.getProperty("firesteel.test.python"),
      "tests/python/postgres_server.py")
      .redirectError(ProcessBuilder.Redirect.INHERIT)
      .start()

  private lazy val address: Array[String] =
    new BufferedReader(new InputStreamReader(server.getInputStream)).readLine().split("[?=&]")

  override protected def url: String = address(0)

  override protected def login: Map[String, String] =
    Map("url" -> url, "user" -> address(2), "password" -> address(4))

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    execute(
      "CREATE TABLE customers (id int PRIMARY KEY, country text, name text, big numeric(20, 2))",
      """INSERT INTO customers
        |SELECT i, CASE i % 3 WHEN 0 THEN 'CH' ELSE 'DE' END, 'name ' || i, i / 4.0
        |FROM generate_series(1, 20000) AS i""".stripMargin
    )
  }

  override protected def afterAll(): Unit =
    try super.afterAll()
    finally {
      server.getOutputStream.close()
      val _ = server.waitFor()
    }

  private def customers = table("dbtable" -> "customers")

  test("answers thousands of keys, by one column and by two") {
    val ids = 1 to 5000
    assert(rows(
      customers,
      Seq("id"),
      Seq("id"))(ids.map(Seq(_)): _*).map(_.getInt(0)).sorted === ids)
    val pairs = ids.map(i => Seq[Any](i, "CH"))
    assert(
      rows(customers, Seq("id", "country"), Seq("id"))(pairs: _*).map(_.getInt(0)).sorted ===
        ids.filter(_ % 3 == 0))
  }

  test("finds each type of key by the value that Spark reads") {
    val types = Seq(
      "boolean" -> Seq("true", "false"),
      "smallint" -> Seq("-32768", "7"),
      "int" -> Seq("-2147483648", "7"),
      "bigint" -> Seq("-9223372036854775808", "7"),
      "real" -> Seq("0.1", "-3.25", "'NaN'", "'Infinity'"),
      "float8" -> Seq("0.1", "-3.25", "'NaN'", "1e300"),
      "numeric(20, 4)" -> Seq("1.5", "-1234567890123456.7891"),
      "text" -> Seq("''", "'Grüße, 東京 😀'", "'it''s'", "' '"),
      "varchar(9)" -> Seq("'ab'", "'ab '"),
      "char(5)" -> Seq("'ab'", "'abcde'"),
      "name" -> Seq("'ab'"),
      "uuid" -> Seq("'00112233-4455-6677-8899-aabbccddeeff'"),
      "mood" -> Seq("'happy'", "'sad'"),
      "inet" -> Seq("'10.0.0.1/8'", "'10.0.0.1'", "'::1'", "'2001:db8::/32'"),
      "cidr" -> Seq("'10.0.0.0/8'", "'10.0.0.1'"),
      "jsonb" -> Seq("'{\"a\": [1, 2]}'"),
      "bytea" -> Seq("'\\x00ff'", "''"),
      "date" -> Seq("'2024-02-29'", "'1582-10-04'", "'0001-01-01'"),
      "timestamp" -> Seq("'2024-03-31 02:30:00.123456'", "'1900-01-01 00:00:00'"),
      "timestamptz" -> Seq("'2024-03-31 02:30:00.123456+05'", "'1900-01-01 00:00:00Z'")
    )
    execute("CREATE TYPE mood AS ENUM ('happy', 'sad')")
    for (((sqlType, values), i) <- types.zipWithIndex) withClue(sqlType) {
      execute(
        s"CREATE TABLE typed_$i (k $sqlType, n int)",
        s"INSERT INTO typed_$i VALUES " +
          values.zipWithIndex.map { case (value, n) => s"($value, $n)" }.mkString(", "))
      val read =
        spark.read.format("jdbc").options(login + ("dbtable" -> s"typed_$i")).load().collect()
      assert(read.length === values.size)
      val found =
        rows(table("dbtable" -> s"typed_$i"), Seq("k"))(read.toSeq.map(r => Seq(r.get(0))): _*)
      assertSameRows(found, read.toSeq, sqlType)
    }
  }

  test("a number that may have more decimals than Spark keeps is no key, but as text") {
    execute("CREATE TABLE thirds (k numeric, n int)", "INSERT INTO thirds VALUES (1 / 3.0, 1)")
    val cut = table("dbtable" -> "thirds")
    assert(cut.lookupKeys(Array("k", "n")) === Array("n"))
    assert(cut.whyNoKey("k").get.contains("more than the 18 decimals of DECIMAL(38,18)"))
    val text = table("dbtable" -> "thirds", "customSchema" -> "k STRING")
    assert(rows(text, Seq("k"), Seq("n"))(Seq("0.33333333333333333333")) === Seq(Row(1)))
    spark.read.format("firesteel-jdbc").options(login + ("dbtable" -> "thirds")).load()
      .createOrReplaceTempView("thirds")
    val thrown = intercept[AnalysisException](
      spark.sql("SELECT /*+ LOOKUP('table'='thirds') */ * FROM (SELECT CAST(0.3 AS DECIMAL(38, 18)) AS v) t JOIN thirds ON k = v")
        .collect())
    assert(thrown.getCondition === "FIRESTEEL_LOOKUP_UNUSABLE_KEY")
    assert(thrown.getMessage.contains("customSchema 'k STRING'"))
  }

  test("text of numbers is the server's, however often a connection asks") {
    execute(
      "CREATE TABLE told (k numeric, f float8, p point, b boolean)",
      "INSERT INTO told VALUES (0.0000001, 1, '(1,2)', true)")
    val text =
      table("dbtable" -> "told", "customSchema" -> "k STRING, f STRING, p STRING, b STRING")
    val lookup = function(text, Seq("k"))
    opened(lookup) {
      val found = (0 until 12).map(_ =>
        asked(lookup, StructType(Seq(text.schema("k"))), text.schema)(Seq("0.0000001")))
      assert(found.distinct === Seq(Seq(Row("0.0000001", "1", "(1,2)", "t"))))
    }
    assert(text.lookupKeys(Array("k", "f", "b")) === Array("k", "f"))
  }

  test("finds timestamps without a time zone") {
    execute(
      "CREATE TABLE local_times (k timestamp)",
      "INSERT INTO local_times VALUES ('2024-03-31 02:30:00.5')")
    val t = table("dbtable" -> "local_times", "preferTimestampNTZ" -> "true")
    val key = java.time.LocalDateTime.parse("2024-03-31T02:30:00.5")
    assert(rows(t, Seq("k"))(Seq(key)) === Seq(Row(key)))
  }

  test("a key that no row can have is not asked, and does not fail the others") {
    execute(
      "CREATE TABLE ids (u uuid, t text)",
      "INSERT INTO ids VALUES ('00112233-4455-6677-8899-aabbccddeeff', 'a')")
    val id = "00112233-4455-6677-8899-aabbccddeeff"
    assert(
      rows(table("dbtable" -> "ids"), Seq("u"))(Seq("no uuid"), Seq(id), Seq(id.toUpperCase)) ===
        Seq(Row(id, "a")))
    assert(rows(
      table("dbtable" -> "ids"),
      Seq("t"))(Seq("a\u0000b"), Seq("a")) === Seq(Row(id, "a")))
  }

  test("a fetch size makes the driver read by a cursor, with the same answer") {
    val t = table("dbtable" -> "customers", "fetchsize" -> "10")
    assert(rows(t, Seq("country"), Seq("id"))(Seq("CH")).size === 6666)
  }

  test("a server that ends a connection is asked again") {
    val lookup = function(customers, Seq("id"), Seq("id"))
    val key = org.apache.spark.sql.types.StructType(customers.schema.take(1))
    opened(lookup) {
      assert(asked(lookup, key, key)(Seq(1)) === Seq(Row(1)))
      execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() " +
          "AND backend_type = 'client backend'")
      assert(asked(lookup, key, key)(Seq(2)) === Seq(Row(2)))
    }
  }

  test("a wrong password is an error that does not show it") {
    val thrown = intercept[FiresteelException](
      tableOf(login ++ Map("dbtable" -> "customers", "password" -> "Open-Sesame")))
    assert(thrown.getCondition === "FIRESTEEL_LOOKUP_JDBC_LOGIN_REFUSED")
    assert(!thrown.getMessage.contains("Open-Sesame"))
  }

  test("a password in the URL logs in, and is not shown") {
    val inUrl = Map("url" -> s"$url?user=${login("user")}&password=${login("password")}")
    val t = tableOf(inUrl + ("dbtable" -> "customers"))
    assert(rows(t, Seq("id"), Seq("id"))(Seq(1)) === Seq(Row(1)))
    val thrown = intercept[FiresteelException](tableOf(inUrl + ("dbtable" -> "nowhere")))
    assert(!thrown.getMessage.contains(login("password")))
  }

  test("an unreachable server is an error after the retries") {
    val thrown = intercept[FiresteelException](
      tableOf(Map(
        "url" -> "jdbc:postgresql://127.0.0.1:1/x",
        "dbtable" -> "t",
        "lookup.max-retries" -> "1")))
    assert(thrown.getCondition === "FIRESTEEL_LOOKUP_JDBC_UNAVAILABLE")
    assert(thrown.getMessage.contains("failed 2 times"))
  }

  test("a database that does not exist is an error at once") {
    val options = login ++ Map("url" -> url.replaceAll("/[a-z]+$", "/nowhere"), "dbtable" -> "t")
    val thrown = intercept[FiresteelException](tableOf(options))
    assert(thrown.getMessage.contains("\"nowhere\" does not exist"))
  }

  test("the unknown column of a given schema is named") {
    val schema = customers.schema.add("nam", "string")
    val t = new JdbcProvider()
      .getTable(schema, Array.empty, (login + ("dbtable" -> "customers")).asJava)
      .asInstanceOf[JdbcLookupTable]
    val thrown = intercept[FiresteelException](rows(t, Seq("id"))(Seq(1)))
    assert(thrown.getCondition === "FIRESTEEL_LOOKUP_JDBC_UNKNOWN_COLUMN")
  }
}
