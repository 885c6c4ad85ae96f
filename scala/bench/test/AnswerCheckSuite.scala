package io.firesteel.bench

import io.firesteel.core.plans.PlanMetrics
import io.firesteel.testkit.TimedSuite
import java.io.{OutputStream, PrintStream}
import java.nio.file.{Files, Path}

import org.apache.spark.sql.SparkSession
import org.scalatest.BeforeAndAfterAll

/** The runner's work with Spark: data, checks, counts. Both sides are stock here. */
class AnswerCheckSuite extends TimedSuite with BeforeAndAfterAll {

  private lazy val folder: Path = Files.createTempDirectory("bench")
  private lazy val spark: SparkSession = BenchSession.start(folder, installed = false)
  private lazy val progress = new Progress(new PrintStream(OutputStream.nullOutputStream()))
  private lazy val check = new AnswerCheck(spark, progress)
  private lazy val data = new DataFolder(folder, progress)

  private val table = Table("few", 100, Seq("k" -> "id % 10", "v" -> "id"), files = 2)

  private def asked(sql: String): Case =
    Case("some", "some case", table, sql, compared = Seq("k", "v"), targets = Nil)

  private def contestant(name: String, sql: String): Contestant = Contestant(name, sql, Map.empty)

  override protected def afterAll(): Unit = {
    spark.stop()
    super.afterAll()
  }

  private def agree(stock: String, firesteel: String): Unit = {
    data.register(spark, table)
    check.agree(asked(stock), contestant("stock", stock), contestant("firesteel", firesteel))
    ()
  }

  test("equal bags agree, in whatever order their rows come") {
    agree("SELECT k, v FROM few", "SELECT k, v FROM few ORDER BY v DESC")
  }

  test("one row more or less, or the same rows but one of them twice, is a wrong answer") {
    val all = "SELECT k, v FROM few"
    val error = intercept[WrongAnswer](agree(all, "SELECT k, v FROM few WHERE v <> 7"))
    assert(error.getMessage.contains("stock alone: [7,7]"))
    intercept[WrongAnswer](agree(all, s"$all UNION ALL SELECT 3L AS k, 3L AS v"))
    intercept[WrongAnswer](agree(all, "SELECT k, IF(v = 7, 17L, v) AS v FROM few"))
  }

  test("an empty answer is refused, since any two of them are equal") {
    intercept[WrongAnswer](agree(
      "SELECT k, v FROM few WHERE v < 0",
      "SELECT k, v FROM few WHERE v < 0"))
  }

  test("rows shuffled and sorted are those of the plan that ran") {
    data.register(spark, table)
    val top = "SELECT * FROM (SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v) AS rn " +
      "FROM few) WHERE rn <= 3"
    val run = PlanMetrics.run(spark.sql(top), Nil)
    // Each of 2 tasks keeps 3 rows of each of 10 keys: 100 rows are sorted below, 60 above.
    assert((
      run.answer.rows,
      run.cost.rowsShuffled,
      run.cost.rowsSorted) == ((30L, 60L, Some(160L))))
  }

  test("a table that was left half written is made again") {
    val again = table.copy(name = "again")
    data.register(spark, again)
    val made = Files.list(folder).filter(_.getFileName.toString.startsWith("again")).findFirst.get
    Files.move(made, folder.resolve(s".${made.getFileName}.part"))
    data.register(spark, again)
    assert(Files.isDirectory(made) && spark.table("again").count() == 100)
  }

  test("a bucketed table is read in buckets, with neither exchange nor sort") {
    val sorted = table.copy(name = "sorted", buckets = Some(Buckets(4, by = "k", sortedBy = "v")))
    data.register(spark, sorted)
    val query = contestant(
      "stock",
      "SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v) AS rn FROM sorted")
    val trusting =
      query.copy(settings = Map("spark.sql.legacy.bucketedTableScan.outputOrdering" -> "true"))
    val cost = query.query(spark)(PlanMetrics.run(_, Nil).cost)
    assert((cost.rowsShuffled, cost.rowsSorted) == ((0L, Some(100L))))
    assert(trusting.query(spark)(PlanMetrics.run(_, Nil).cost.rowsSorted).contains(0L))
  }

  test("the arithmetic of the memory case is what Spark answers") {
    val small = RankMemory.of(1000).copy(heapMiB = Int.MaxValue)
    assert(new MemoryRunner(spark, data, progress).run(small).map(_.answerRows) == Seq(
      1000L,
      2000L))
  }

  test("a timed run knows its tasks and not those of others") {
    data.register(spark, table)
    val tasks = new TaskLog(spark.sparkContext)
    spark.table("few").count()
    val run = tasks.time(spark.table("few").write.format("noop").mode("overwrite").save())
    assert(run.seconds > 0 && run.tasks.nonEmpty && run.tasks.map(_.stage).distinct.size == 1)
  }
}
