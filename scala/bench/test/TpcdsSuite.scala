package io.firesteel.bench

import io.firesteel.testkit.TimedSuite

import java.io.{OutputStream, PrintStream}
import java.nio.file.{Files, Path}

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.types.{DateType, DecimalType, IntegerType, StringType}
import org.scalatest.BeforeAndAfterAll

/** The data, the queries and the comparison of TPC-DS, on a hundredth of a gigabyte. */
class TpcdsSuite extends TimedSuite with BeforeAndAfterAll {

  private lazy val folder: Path = Files.createTempDirectory("tpcds")
  private lazy val spark: SparkSession = BenchSession.start(folder, installed = false)
  private lazy val progress = new Progress(new PrintStream(OutputStream.nullOutputStream()))
  private lazy val answers = new TpcdsAnswers(spark)

  // Without customer_demographics, which has 1.9 million rows at any scale.
  private val few = Seq("date_dim", "household_demographics", "income_band", "ship_mode", "item") ++
    Seq("store_sales", "store_returns")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    new TpcdsData(folder, 0.01, progress).register(spark, few.map(TpcdsTable(_)))
  }

  override protected def afterAll(): Unit = {
    spark.stop()
    super.afterAll()
  }

  private def verdict(stock: String, firesteel: String): Verdict = answers
    .compare("q", side(stock), side(firesteel))
    .verdict

  // Small tables finish before their code is compiled.
  private def side(sql: String): Contestant = Contestant(
    "side",
    sql,
    Map("spark.sql.shuffle.partitions" -> "1", "spark.sql.codegen.wholeStage" -> "false"))

  test("there are 103 queries, each with a text, and 14 of them shuffle by a subset of keys") {
    assert(TpcdsQueries.names.size == 103)
    assert(TpcdsQueries.names.forall(name => TpcdsQueries.sql(name).toLowerCase.contains("select")))
    assert(TpcdsQueries.subsetKeys.toSet.size == 14)
    assert(TpcdsQueries.subsetKeys.forall(TpcdsQueries.names.contains))
  }

  test("the classes of the jar that has the queries are not on the class path") {
    assert(getClass.getResource("/org/apache/spark/sql/TPCDSBase.class") == null)
  }

  test("24 tables have the types of the specification, identifiers INT and texts STRING") {
    assert(TpcdsTable.all.size == 24)
    val types = TpcdsTable("item").schema.fields.map(field => field.name -> field.dataType).toMap
    assert(types("i_item_sk") == IntegerType && types("i_current_price") == DecimalType(7, 2))
    assert(types("i_rec_start_date") == DateType && types("i_brand") == StringType)
    assert(TpcdsTable("promotion").schema("p_cost").dataType == DecimalType(15, 2))
    assert(TpcdsTable("customer").schema.fieldNames.contains("c_last_review_date"))
  }

  test("tables of fixed size have the rows of the specification, orders several rows each") {
    val expected = Map(
      "date_dim" -> 73049L,
      "household_demographics" -> 7200L,
      "income_band" -> 20L,
      "ship_mode" -> 20L,
      "item" -> 2000L)
    expected.foreach { case (table, rows) => assert(spark.table(table).count() == rows, table) }
    assert(TpcdsTable("customer_demographics").units(0.01) == 1920800)
    assert(Seq(0.01, 1.0).map(TpcdsTable("store_sales").units(_)) == Seq(10000L, 240000L))
    val sales =
      spark.sql("SELECT count(*), count(DISTINCT ss_ticket_number) FROM store_sales").head()
    assert(sales.getLong(1) == 10000 && sales.getLong(0) > 80000)
  }

  test("a table in several files is the table in one") {
    assert(TpcdsData.pieces(20, 3) == Seq((1L, 6L), (7L, 12L), (13L, 20L)))
    TpcdsTable.all.foreach { table =>
      val units = math.min(2000, table.units(0.01))
      val parts = TpcdsData.pieces(units, 8).flatMap { case (first, last) =>
        table.rows(0.01, first, last)
      }
      val same = parts == table.rows(0.01, 1, units).toSeq
      assert(same, table.name)
    }
  }

  test("every return is of something sold, and a date is its own") {
    val orphans = spark.sql("""SELECT count(*) FROM store_returns LEFT ANTI JOIN store_sales
      ON sr_ticket_number = ss_ticket_number AND sr_item_sk = ss_item_sk""")
    assert(orphans.head().getLong(0) == 0)
    val date = spark.sql("SELECT d_date_sk FROM date_dim WHERE d_date = DATE'2000-01-01'")
    assert(date.head() == Row(2451545))
  }

  test("statistics are there, and come back from their file") {
    def known = TableStatistics.of(spark, "store_sales").get
    val analysed = known
    val items = analysed.colStats("ss_item_sk")
    assert(analysed.rowCount.exists(_ > 80000) && items.distinctCount.exists(_ > 1900))
    assert(items.histogram.nonEmpty)
    new TpcdsData(folder, 0.01, progress).register(spark, Seq(TpcdsTable("store_sales")))
    assert(known == analysed)
  }

  test("equal answers are equal, and one value more, less or other is not") {
    val query = "SELECT d_date_sk, d_day_name FROM date_dim WHERE d_year = 2000"
    assert(verdict(query, s"$query ORDER BY d_date_sk DESC") == Verdict.Equal)
    assert(verdict(query, s"$query AND d_moy < 12") == Verdict.Different)
    assert(verdict(query, s"$query UNION ALL SELECT 1, 'x'") == Verdict.Different)
    assert(verdict(query, query.replace("d_day_name", "upper(d_day_name)")) == Verdict.Different)
    assert(verdict(query, query.replace("d_date_sk", "d_date_sk + 0L")) == Verdict.Different)
    assert(verdict(query, "SELECT no_column FROM date_dim") == Verdict.Failed)
  }

  test("rows that tie for the last place may be others, and no other rows may") {
    def top(order: String, limit: Int = 3): String =
      s"SELECT d_date_sk, d_dom FROM date_dim WHERE d_year = 2000 ORDER BY $order LIMIT $limit"
    // Twelve days are the first of a month, so any three of them are right.
    assert(verdict(top("d_dom"), top("d_dom, d_date_sk DESC")) == Verdict.EqualButForTies)
    assert(verdict(top("d_dom", 14), top("d_dom, d_date_sk DESC", 14)) == Verdict.EqualButForTies)
    assert(verdict(top("d_dom", 14), top("d_dom, d_date_sk DESC", 13)) == Verdict.Different)
    assert(verdict(top("d_dom"), top("d_dom DESC")) == Verdict.Different)
    assert(verdict(top("d_date_sk"), top("d_date_sk DESC")) == Verdict.Different)
    // 14 rows: all twelve first days and two second days.
    val without = "(SELECT * FROM date_dim WHERE d_moy > 1) AS date_dim"
    assert(verdict(top("d_dom", 14), top("d_dom", 14).replace("date_dim", without)) ==
      Verdict.Different)
  }

  test("ties are known where the order is by a column that is not in the answer, below a CTE") {
    def top(order: String): String =
      s"""WITH days AS (SELECT * FROM date_dim WHERE d_year = 2000)
         |SELECT a.d_date_sk FROM days a JOIN days b ON a.d_date_sk = b.d_date_sk
         |ORDER BY a.$order LIMIT 3""".stripMargin
    assert(verdict(top("d_dom"), top("d_dom, a.d_date_sk DESC")) == Verdict.EqualButForTies)
    assert(verdict(top("d_dom"), top("d_dom DESC")) == Verdict.Different)
  }

  test("an exchange that is used again counts once, and one in a subquery counts") {
    def shuffles(sql: String): Int =
      answers.compare("q", side(sql), side(sql)).stock.get.shuffles
    val grouped = "SELECT d_moy, count(*) AS n FROM date_dim GROUP BY d_moy"
    assert(shuffles(grouped) == 1)
    assert(shuffles(s"SELECT * FROM ($grouped) UNION ALL ($grouped)") == 1)
    assert(shuffles(s"$grouped HAVING n > (SELECT max(ib_lower_bound) FROM income_band)") == 2)
  }
}
