package io.firesteel.lookup.jdbc

import java.time.{LocalDate, LocalDateTime}

import scala.jdk.CollectionConverters._

import io.firesteel.testkit.SinceSpark
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.connector.expressions.{Expression, Expressions}
import org.apache.spark.sql.connector.expressions.filter.{Not, Or, Predicate}
import org.apache.spark.sql.types.StructType

/** Answers of a lookup in H2. */
class JdbcLookupSuite extends JdbcSuite {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    execute(
      "CREATE TABLE customers (id INT, country VARCHAR, name VARCHAR, score DOUBLE PRECISION)",
      """INSERT INTO customers VALUES (1, 'CH', 'Ada', 1.5), (2, 'CH', NULL, NULL),
        |  (3, 'DE', 'Bob', 2.5), (3, 'DE', 'Bea', 3.5), (NULL, 'DE', 'nobody', 0.0)""".stripMargin,
      "CREATE TABLE numbers AS SELECT x AS id, x * x AS square FROM system_range(1, 5000)"
    )
  }

  private def customers = table("dbtable" -> "customers")

  private def equal(column: String, value: Any): Predicate =
    new Predicate(
      "=",
      Array[Expression](
        Expressions.column(column),
        Expressions.literal(CatalystTypeConverters.convertToCatalyst(value))))

  private def sorted(found: Seq[Row]): Seq[Row] = found.sortBy(_.toString)

  test("answers all rows of all keys, for a key none, one or several") {
    assert(
      sorted(rows(customers, Seq("ID"), Seq("ID", "NAME"))(Seq(1), Seq(3), Seq(4))) ===
        Seq(Row(1, "Ada"), Row(3, "Bea"), Row(3, "Bob")))
  }

  test("answers nulls of other columns") {
    assert(rows(customers, Seq("ID"))(Seq(2)) === Seq(Row(2, "CH", null, null)))
  }

  test("asks by several keys at once") {
    assert(
      sorted(rows(customers, Seq("ID", "COUNTRY"), Seq("NAME"))(Seq(1, "CH"), Seq(3, "CH"))) ===
        Seq(Row("Ada")))
    assert(
      rows(customers, Seq("ID", "COUNTRY"), Seq("NAME"))(Seq(1, "CH"), Seq(3, "DE")).size === 3)
  }

  test("answers nothing to no keys") {
    assert(rows(customers, Seq("ID"))() === Nil)
  }

  test("answers the columns wanted, in their order") {
    assert(
      rows(customers, Seq("ID"), Seq("SCORE", "ID", "COUNTRY"))(Seq(1)) === Seq(Row(1.5, 1, "CH")))
  }

  test("answers more keys than one statement holds, each once") {
    for (size <- Seq("7", "1000", "100000")) {
      val found = rows(
        table("dbtable" -> "numbers", "lookup.batch-size" -> size),
        Seq("ID"))((1L to 3001L).map(Seq(_)): _*)
      assert(found.map(_.getLong(0)).sorted === (1L to 3001L), size)
      assert(found.forall(row => row.getLong(1) == row.getLong(0) * row.getLong(0)), size)
    }
  }

  test("a call has no more keys than the database takes") {
    assert(function(customers, Seq("ID")).maxBatchKeys === 32000)
    assert(function(customers, Seq("ID", "COUNTRY")).maxBatchKeys === 16000)
  }

  test("answers asynchronously, several questions under way") {
    val numbers = table("dbtable" -> "numbers")
    val lookup = function(numbers, Seq("ID"))
    opened(lookup) {
      val key = StructType(numbers.schema.take(1))
      val futures = (1L to 50L).map(i => lookup.lookupAsync(internal(key, Seq(Seq(i))).asJava))
      assert(futures.map(_.get().get(0).getLong(1)) === (1L to 50L).map(i => i * i))
    }
  }

  test("reads a query as it reads a table") {
    val options = login + ("query" -> "SELECT id, name FROM customers WHERE id < 3")
    assert(sorted(rows(tableOf(options), Seq("ID"))(Seq(1), Seq(2), Seq(3))) ===
      Seq(Row(1, "Ada"), Row(2, null)))
  }

  test("filters that the dialect can say go to the database, others to the engine") {
    def statement(filters: Predicate*) =
      function(customers, Seq("ID"), Seq("ID"), filters).toString
    val isSwiss = equal("COUNTRY", "CH")
    val unknown = new Predicate("NO_SUCH", Array[Expression](Expressions.column("ID")))
    assert(statement(isSwiss).contains("""("COUNTRY" = 'CH')"""))
    assert(statement(unknown, isSwiss) === statement(isSwiss))
    assert(rows(customers, Seq("ID"), Seq("ID"), Seq(isSwiss))(Seq(1), Seq(3)) === Seq(Row(1)))
  }

  test("filters that the database asks otherwise than Spark stay with the engine") {
    execute(
      "CREATE TABLE strict (id INT, word VARCHAR_IGNORECASE, ref UUID, size DOUBLE PRECISION)",
      "INSERT INTO strict VALUES (1, 'ch', '1b4e28ba-2fa1-11d2-883f-0016d3cca427', 2.0)"
    )
    val of = table("dbtable" -> "strict")
    def two(name: String, column: String, value: Any) = new Predicate(
      name,
      Array[Expression](
        Expressions.column(column),
        Expressions.literal(CatalystTypeConverters.convertToCatalyst(value))))
    def isAsked(filter: Predicate) = !function(of, Seq("ID"), Seq("ID"), Seq(filter)).toString
      .equals(function(of, Seq("ID"), Seq("ID")).toString)
    val refused = Seq(
      two("<>", "WORD", "CH"),
      new Not(two("=", "WORD", "CH")),
      two("<", "WORD", "DH"),
      new Or(two("=", "ID", 1), two("<>", "WORD", "CH")),
      two("=", "REF", "none"),
      two("<>", "WORD", "\\"),
      two("<", "SIZE", Double.PositiveInfinity)
    )
    refused.foreach { filter =>
      assert(!isAsked(filter), filter)
      assert(rows(of, Seq("ID"), Seq("ID"), Seq(filter))(Seq(1)) === Seq(Row(1)), filter)
    }
    Seq("ch\\", "çh").foreach(text => assert(!isAsked(two("=", "WORD", text)), text))
    Seq(two("=", "WORD", "CH"), two("<", "SIZE", 3.0), new Not(two("=", "ID", 2)))
      .foreach(filter => assert(isAsked(filter), filter))
  }

  test("a column is found by the name as the query writes it") {
    assert(rows(customers, Seq("ID"), Seq("NAME"))(Seq(1)) === Seq(Row("Ada")))
    assert(customers.lookupKeys(Array("id", "Country")) === Array("id", "Country"))
    assert(
      function(customers, Seq("ID"), Seq("ID"), Seq(equal("country", "CH"))).toString ===
        function(customers, Seq("ID"), Seq("ID")).toString)
  }

  test("no filter goes to the database when Spark's option forbids it") {
    val isOne = equal("ID", 1)
    val plain = table("dbtable" -> "customers", "pushDownPredicate" -> "false")
    assert(!function(plain, Seq("ID"), Nil, Seq(isOne)).toString.contains("= 1"))
  }

  test("finds each type of key by the value that Spark reads") {
    val types = Seq(
      "BOOLEAN" -> Seq("TRUE", "FALSE"),
      "TINYINT" -> Seq("-128", "7"),
      "SMALLINT" -> Seq("-32768", "7"),
      "INT" -> Seq("-2147483648", "7"),
      "BIGINT" -> Seq("-9223372036854775808", "7"),
      "REAL" -> Seq("0.1", "-3.25"),
      "DOUBLE PRECISION" -> Seq("0.1", "-3.25", "CAST('NaN' AS DOUBLE PRECISION)", "1e300"),
      "DECIMAL(20, 4)" -> Seq("1.5", "-1234567890123456.7891"),
      "DECIMAL(38, 0)" -> Seq("12345678901234567890123456789012345678"),
      "VARCHAR(30)" -> Seq("''", "'Grüße, 東京 😀'", "'it''s'", "' '"),
      "CHAR(5)" -> Seq("'ab'", "'abcde'"),
      "VARBINARY(10)" -> Seq("X'00ff'", "X''"),
      "DATE" -> Seq("DATE '2024-02-29'", "DATE '1582-10-04'", "DATE '0001-01-01'"),
      "TIMESTAMP" -> Seq(
        "TIMESTAMP '2024-03-31 02:30:00.123456'",
        "TIMESTAMP '1900-01-01 00:00:00'")
    )
    for (((sqlType, values), i) <- types.zipWithIndex) {
      execute(
        s"CREATE TABLE typed_$i (k $sqlType, n INT)",
        s"INSERT INTO typed_$i VALUES " + values.zipWithIndex.map(v =>
          s"(${v._1}, ${v._2})").mkString(", "))
      assertFound(s"typed_$i", values.size, sqlType)
    }
  }

  test("finds timestamps without a time zone") {
    execute(
      "CREATE TABLE local_times (k TIMESTAMP, n INT)",
      "INSERT INTO local_times VALUES (TIMESTAMP '2024-03-31 02:30:00.123456', 1)")
    val times = table("dbtable" -> "local_times", "preferTimestampNTZ" -> "true")
    val asked = Seq(LocalDateTime.parse("2024-03-31T02:30:00.123456"))
    assert(rows(times, Seq("K"), Seq("N"))(asked) === Seq(Row(1)))
  }

  test("dates are found with Java's newer classes, too") {
    withConf("spark.sql.datetime.java8API.enabled" -> true) {
      execute("CREATE TABLE days (k DATE)", "INSERT INTO days VALUES (DATE '2024-02-29')")
      assert(rows(
        table("dbtable" -> "days"),
        Seq("K"))(Seq(LocalDate.parse("2024-02-29"))).size === 1)
    }
  }

  test("a column whose value Spark changes when it reads it is no key") {
    execute("CREATE TABLE odd (id INT, fine TIMESTAMP(9), clock TIME)")
    assert(table("dbtable" -> "odd").lookupKeys(Array("ID", "FINE", "CLOCK")) === Array("ID"))
  }

  test("the same holds of a schema that was given by hand") {
    execute("CREATE TABLE given (id INT, fine TIMESTAMP(9), n DECFLOAT, f REAL)")
    def keys(schema: String): Seq[String] =
      new JdbcProvider()
        .getTable(StructType.fromDDL(schema), Array.empty, (login + ("dbtable" -> "given")).asJava)
        .asInstanceOf[JdbcLookupTable]
        .lookupKeys(Array("ID", "FINE", "N", "F")).toSeq
    assert(keys("ID INT, FINE TIMESTAMP, N DECIMAL(38,0), F DOUBLE") === Seq("ID", "F"))
    assert(keys("ID BIGINT, FINE STRING, N INT, F FLOAT") === Seq("ID"))
  }

  test("a number that is read as text is no key: one text that is no number would fail all") {
    execute("CREATE TABLE numbered (id INT, t VARCHAR(9))", "INSERT INTO numbered VALUES (1, 'a')")
    val read = table("dbtable" -> "numbered", "customSchema" -> "ID STRING")
    assert(read.lookupKeys(Array("ID", "T")) === Array("T"))
    assert(read.whyNoKey("ID").get.contains("reads it as text"))
  }

  test("the rows are those of Spark's own JDBC source") {
    val ours = table("dbtable" -> "customers")
    val theirs = spark.read.format("jdbc").options(login + ("dbtable" -> "customers")).load()
    if (SinceSpark.is("4.1")) assert(ours.schema === theirs.schema)
    else assert(ours.schema.toDDL === theirs.schema.toDDL) // does not note names of types
    val found = rows(ours, Seq("COUNTRY"))(Seq("CH"), Seq("DE"))
    assertSameRows(found, theirs.collect().toSeq, "customers")
  }

  /** Looks up every key that Spark reads from the table, and compares the rows with Spark's. */
  private def assertFound(name: String, count: Int, about: String): Unit = {
    val read =
      spark.read.format("jdbc").options(login + ("dbtable" -> name)).load().collect().toSeq
    assert(read.size === count)
    val found = rows(table("dbtable" -> name), Seq("K"))(read.map(row => Seq(row.get(0))): _*)
    assertSameRows(found, read, about)
    val _ = succeed
  }
}
