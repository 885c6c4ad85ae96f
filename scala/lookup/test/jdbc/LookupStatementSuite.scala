package io.firesteel.lookup.jdbc

import java.util.Locale

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions
import org.apache.spark.sql.jdbc.JdbcDialects
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** The text of the statements, also for databases that no test can start. */
class LookupStatementSuite extends AnyFunSuite {

  private val schema = new StructType()
    .add("a", IntegerType)
    .add("b", StringType)
    .add("flag", BooleanType)
    .add("d", DoubleType)
    .add("t", TimestampType)

  private def statement(url: String, keys: String*): LookupStatement = {
    val dialect = JdbcDialects.get(url)
    val database = Database.of(url)
    val columns = keys.map(key => database.keyColumn(as(schema(key)), dialect).toOption.get)
    // The driver must only exist: nothing connects.
    val options = new JDBCOptions(
      CaseInsensitiveMap(Map("url" -> url, "dbtable" -> "t", "driver" -> "org.h2.Driver")))
    LookupStatement.of(
      options,
      dialect,
      database,
      columns,
      Array("a", "b").map(dialect.quoteIdentifier),
      Array.empty)
  }

  private def normal(text: String): String = text.replaceAll("\\s+", " ").trim

  private def keyOf(url: String, field: StructField) =
    Database.of(url).keyColumn(as(field), JdbcDialects.get(url)).toOption

  /** A column with the type that Spark itself reads. */
  private def as(field: StructField): DatabaseColumn = DatabaseColumn(field, field)

  test("one key is a list") {
    assert(
      normal(statement("jdbc:h2:mem:x", "a").text(3)) ===
        """SELECT "a","b" FROM t WHERE "a" IN (?, ?, ?)""")
  }

  test("several keys are row values, where the database has them") {
    for (url <- Seq("jdbc:h2:mem:x", "jdbc:postgresql://h/d", "jdbc:oracle:thin:@h:1521:d")) {
      assert(
        normal(statement(url, "a", "b").text(2)).endsWith(
          """WHERE ("a", "b") IN ((?, ?), (?, ?))"""))
    }
    assert(
      normal(statement("jdbc:mysql://h/d", "a", "b").text(2)).endsWith(
        "WHERE (`a`, `b`) IN ((?, ?), (?, ?))"))
  }

  test("SQLite compares with the rows of a subquery") {
    assert(
      normal(statement("jdbc:sqlite:x", "a", "b").text(2)).endsWith(
        """WHERE ("a", "b") IN (VALUES (?, ?), (?, ?))"""))
  }

  test("other databases get alternatives, and fewer of them") {
    for (url <- Seq("jdbc:sqlserver://h", "jdbc:derby:x")) {
      val two = statement(url, "a", "b")
      assert(
        normal(two.text(2)).endsWith("""WHERE ("a" = ? AND "b" = ?) OR ("a" = ? AND "b" = ?)"""))
      assert(two.maxKeys === 200)
    }
  }

  test("a list is no longer than the database allows") {
    assert(statement("jdbc:oracle:thin:@h:1521:d", "a").maxKeys === 1000)
    assert(statement("jdbc:sqlserver://h", "a").maxKeys === 2000)
    assert(statement("jdbc:postgresql://h/d", "a", "b").maxKeys === 16000)
  }

  test("a few sizes serve all batches") {
    val sizes = (1 to 1000).map(LookupStatement.paddedSize(_, 1000))
    assert(sizes.distinct === Seq(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000))
    assert(sizes.zipWithIndex.forall { case (size, i) => size >= i + 1 && size <= 2 * (i + 1) })
  }

  test("a type that a database keeps otherwise than Spark is no key there") {
    for (url <- Seq("jdbc:mysql://h/d", "jdbc:sqlite:x")) {
      assert(keyOf(url, schema("flag")).isEmpty)
      assert(keyOf(url, StructField("f", FloatType)).isEmpty)
    }
    assert(keyOf("jdbc:sqlite:x", schema("t")).isEmpty)
    assert(keyOf("jdbc:sqlserver://h", typed("t", TimestampType, "datetime")).isEmpty)
    assert(keyOf("jdbc:sqlserver://h", typed("t", TimestampType, "datetime2")).isDefined)
    assert(keyOf("jdbc:h2:mem:x", StructField("s", StringType("UTF8_LCASE"))).isEmpty)
  }

  test("a number of more decimals than Spark keeps is no key, and the reason says so") {
    def why(inferred: DataType, scale: Long, read: DataType): Option[String] = {
      val notes =
        new MetadataBuilder().putString("jdbcClientType", "numeric").putLong("scale", scale)
      val own = StructField("k", inferred, nullable = true, notes.build())
      DatabaseColumn(own.copy(dataType = read), own).changed
    }
    def asIs(of: DataType, scale: Long) = why(of, scale, of)
    // NUMERIC without precision in PostgreSQL, in Oracle; NUMERIC(50, 40).
    for ((of, scale) <-
        Seq(DecimalType(38, 18) -> 0L, DecimalType(38, 10) -> -127L, DecimalType(38, 38) -> 40L)) {
      assert(
        asIs(of, scale).exists(_.contains(s"more than the ${of.scale} decimals")),
        s"$of $scale")
    }
    for ((of, scale) <- Seq(
        DecimalType(38, 18) -> 18L,
        DecimalType(20, 4) -> 4L,
        DecimalType(38, 0) -> 0L,
        DecimalType(7, 0) -> -2L)) {
      assert(asIs(of, scale).isEmpty, s"$of $scale")
    }
    assert(why(DecimalType(20, 4), 4L, DecimalType(20, 2)).isDefined)
    assert(why(DecimalType(20, 4), 4L, DecimalType(30, 8)).isEmpty)
    assert(why(DecimalType(20, 4), 4L, IntegerType).exists(_.contains("decimals")))
    assert(why(DecimalType(9, 0), 0L, IntegerType).isEmpty)
  }

  test("padded text is a key where the database compares it without its blanks") {
    val padded = StructField("k", CharType(5))
    for (url <- Seq("jdbc:h2:mem:x", "jdbc:postgresql://h/d", "jdbc:sqlserver://h")) {
      assert(keyOf(url, padded).isDefined, url)
    }
    for (url <- Seq("jdbc:sqlite:x", "jdbc:oracle:thin:@h:1521:d", "jdbc:derby:x")) {
      assert(keyOf(url, padded).isEmpty, url)
    }
    val row = InternalRow(UTF8String.fromString(" CH  "))
    assert(keyOf("jdbc:mysql://h/d", padded).get.parameter.of(row, 0).contains(" CH"))
  }

  test("a column that is given another type than it has is no key, but for text") {
    def why(inferred: DataType, read: DataType) =
      DatabaseColumn(StructField("k", read), StructField("k", inferred)).changed
    for ((inferred, read) <- Seq(
        TimestampType -> DateType,
        FloatType -> DoubleType,
        DoubleType -> LongType,
        BooleanType -> IntegerType)) {
      assert(why(inferred, read).exists(_.contains(read.sql)), s"$inferred $read")
    }
    assert(why(TimestampType, StringType).isEmpty && why(LongType, IntegerType).isEmpty)
  }

  test("PostgreSQL's types that read as text are compared as text, or as what they are") {
    def column(name: String) =
      keyOf("jdbc:postgresql://h/d", typed("c", StringType, name)).map(_.sql)
    assert(column("text").contains("\"c\""))
    assert(column("bpchar").contains("\"c\""))
    assert(column("uuid").contains("\"c\""))
    assert(column("mood").contains("CAST(\"c\" AS text)"))
  }

  test("of SQL Server's guids only texts are asked that can be one") {
    val field = typed("c", StringType, "uniqueidentifier")
    val parameter = keyOf("jdbc:sqlserver://h", field).get.parameter
    def asked(text: String) = parameter.of(InternalRow(UTF8String.fromString(text)), 0)
    val guid = "00112233-4455-6677-8899-AABBCCDDEEFF"
    for (text <- Seq(guid, guid.toLowerCase(Locale.ROOT))) assert(asked(text).contains(text))
    for (text <- Seq("", "no guid", s"{$guid}", guid + "0", guid.dropRight(1), s" $guid")) {
      assert(asked(text).isEmpty, text)
    }
  }

  private def typed(name: String, dataType: DataType, databaseType: String): StructField =
    StructField(
      name,
      dataType,
      nullable = true,
      new MetadataBuilder().putString("jdbcClientType", databaseType).build())
}
