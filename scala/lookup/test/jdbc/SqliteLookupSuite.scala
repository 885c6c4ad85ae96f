package io.firesteel.lookup.jdbc

import java.nio.file.Files

import org.apache.spark.sql.Row

/** SQLite, which Spark has no dialect for. */
class SqliteLookupSuite extends JdbcSuite {

  private lazy val file = Files.createTempDirectory("firesteel-sqlite").resolve("test.db")

  override protected def url: String = s"jdbc:sqlite:$file"
  override protected def login: Map[String, String] = Map("url" -> url)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    execute(
      """CREATE TABLE customers (id INTEGER, country TEXT, name TEXT, big BIGINT, score DOUBLE,
        |  price DECIMAL(10, 2), photo BLOB, day DATE, active BOOLEAN)""".stripMargin,
      """INSERT INTO customers VALUES
        |  (1, 'CH', 'Ada', 9007199254740993, 0.1, 1.5, x'00ff', '2024-02-29', 1),
        |  (2, 'CH', NULL, 2, NULL, NULL, NULL, NULL, NULL),
        |  (3, 'DE', 'Bob', 3, 2.5, 2, x'01', '2024-03-01', 0)""".stripMargin,
      "CREATE TABLE pairs (a INTEGER, b INTEGER)",
      """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        |INSERT INTO pairs SELECT i, i * 2 FROM n""".stripMargin
    )
  }

  private def customers = table("dbtable" -> "customers")

  test("answers by one key and by several") {
    assert(rows(customers, Seq("id"), Seq("name"))(Seq(1), Seq(2), Seq(9)).toSet ===
      Set(Row("Ada"), Row(null)))
    assert(
      rows(customers, Seq("id", "country"), Seq("name"))(Seq(1, "CH"), Seq(3, "CH")) ===
        Seq(Row("Ada")))
  }

  test("finds whole numbers, fractions, decimals, text and bytes") {
    val asked = Map[String, Seq[Any]](
      "big" -> Seq(new java.math.BigDecimal("9007199254740993")),
      "score" -> Seq(0.1),
      "price" -> Seq(new java.math.BigDecimal("1.50")),
      "name" -> Seq("Ada"),
      "photo" -> Seq(Array[Byte](0, -1))
    )
    asked.foreach { case (column, key) =>
      assert(rows(customers, Seq(column), Seq("id"))(key) === Seq(Row(1)), column)
    }
  }

  test("finds a decimal among several keys") {
    assert(
      rows(customers, Seq("id", "price"), Seq("name"))(Seq(1, new java.math.BigDecimal("1.50"))) ===
        Seq(Row("Ada")))
  }

  test("days and booleans are no keys, for they are kept as numbers or as text") {
    assert(customers.lookupKeys(Array("id", "day", "active")) === Array("id"))
  }

  test("answers thousands of pairs") {
    val t = table("dbtable" -> "pairs", "lookup.batch-size" -> "2000")
    val found = rows(t, Seq("a", "b"))((1 to 3000).map(i => Seq(i, i * 2)): _*)
    assert(found.map(_.getInt(0)).sorted === (1 to 3000))
  }
}
