package io.firesteel.bench

import java.lang.management.ManagementFactory
import java.nio.file.Path
import java.util.concurrent.atomic.AtomicReference

import com.sun.management.OperatingSystemMXBean
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

/** Statements over one view, as one query and as queries of their own, by the CPU time of both. */
final class Statements(
    spark: SparkSession,
    scratch: Path,
    progress: Progress,
    arguments: Arguments) {
  import Statements._

  private val data = new DataFolder(arguments.data, progress)
  private val machine =
    ManagementFactory.getOperatingSystemMXBean.asInstanceOf[OperatingSystemMXBean]

  def run(): Seq[Figure] = cases.map { its =>
    StreamedFiles.make(spark, data, table(arguments.rows), its.format).stream(spark, perBatch = 1)
      .createOrReplaceTempView("t")
    spark.sql(view).createOrReplaceTempView("sums")
    val settings = FigureResults.providers.head._2
    def within[A](on: Map[String, String])(body: => A): A =
      Contestant("", "", settings ++ on).within(spark)(body)
    val sides = its.union match {
      case true => Seq(
          together -> (() => within(reuse(true))(cpu(apart(its.queries, _)))),
          alone -> (() => within(reuse(false))(cpu(apart(its.queries, _)))))
      case false => Seq(
          together -> (() => within(Map.empty)(cpu(inOne(its.queries, _)))),
          alone -> (() => within(Map.empty)(cpu(apart(its.queries, _)))))
    }
    val sums = Seq(true, false).map { one =>
      progress.step(s"${its.title}: answer")(within(reuse(one))(answer(its, one)))
    }
    if (sums.distinct.size != 1) throw new WrongAnswer(s"${its.title}: ${sums.mkString(", ")}")
    // The compiler's time counts, too, so it must be over.
    val _ = progress.step(s"${its.title}: warm-up") {
      WarmUp.until(i => Rounds.order(sides, i).map { case (name, run) => name -> run() })
    }
    val rounds = Rounds.inTurn(progress, its.title, arguments.pairs)(sides: _*)
    Figure(name, its.title, "in memory", alone, together, rounds, Bound.AtLeast(its.times))
  }

  /** The CPU time of the whole process: tasks, planning, commits and garbage. */
  private def cpu(body: Path => Unit): Run = ScratchCheckpoint.in(scratch) { checkpoint =>
    System.gc()
    val before = machine.getProcessCpuTime
    body(checkpoint)
    Run((machine.getProcessCpuTime - before) / 1e9, Nil)
  }

  private def write(rows: DataFrame): Unit =
    rows.write.format("noop").mode("append").save()

  private def inOne(queries: Seq[String], checkpoint: Path): Unit =
    startSet(queries, checkpoint)((rows, _) => write(rows)).awaitTermination()

  private def startSet(queries: Seq[String], checkpoint: Path)(
      sink: (DataFrame, Int) => Unit): StreamingQuery = {
    queries.zipWithIndex.foreach { case (query, i) =>
      spark.sql(changes(query)).createOrReplaceTempView(s"q$i")
    }
    def list(text: Int => String) = queries.indices.map(text).mkString(", ")
    spark.sql(
      s"SELECT * FROM firesteel_statement_set(${list(i => s"TABLE(q$i)")}, names => " +
        s"array(${list(i => s"'q$i'")}), modes => array(${list(_ => "'append'")}))").writeStream
      .option("checkpointLocation", checkpoint.toString).trigger(Trigger.AvailableNow)
      .foreachBatch { (batch: DataFrame, _: Long) =>
        queries.indices.foreach(i => sink(batch.where(s"statement = $i").select(s"s$i.*"), i))
      }.start()
  }

  private def apart(queries: Seq[String], checkpoint: Path): Unit =
    startApart(queries, checkpoint)((rows, _) => write(rows)).foreach(_.awaitTermination())

  private def startApart(queries: Seq[String], checkpoint: Path)(
      sink: (DataFrame, Int) => Unit): Seq[StreamingQuery] =
    queries.zipWithIndex.map { case (query, i) =>
      spark.sql(changes(query)).writeStream
        .option("checkpointLocation", checkpoint.resolve(s"$i").toString)
        .trigger(Trigger.AvailableNow)
        .foreachBatch((batch: DataFrame, _: Long) => sink(batch, i))
        .start()
    }

  /** The sums of all statements' changes. */
  private def answer(its: Case, inOne: Boolean): Seq[Checksum] =
    ScratchCheckpoint.in(scratch) { checkpoint =>
      val sums = its.queries.map(_ => new AtomicReference(Checksum.none))
      def add(rows: DataFrame, i: Int): Unit = {
        val changed =
          Checksum.read(rows.selectExpr(Checksum.ofChanges(Seq("k", "x"), "op"): _*).head())
        val _ = sums(i).updateAndGet(_ + changed)
      }
      if (inOne && !its.union) startSet(its.queries, checkpoint)(add).awaitTermination()
      else startApart(its.queries, checkpoint)(add).foreach(_.awaitTermination())
      sums.map(_.get)
    }
}

object Statements {

  val name: String = "sinks"

  val note: String =
    s"""A view `SELECT k, count(*) AS n, sum(v) AS s FROM t GROUP BY k` with 100,000 keys over rows in ten
      |micro-batches, with the state store in memory. *In one*: one statement set, or one query that
      |reads the view several times with one state. *Apart*: as many queries side by side, or the same
      |query with the state of each reading. Seconds are of CPU, of the whole process, after
      |${WarmUp.seconds.toInt} such seconds of each. All changes go to a sink that drops them, and their
      |sums are equal.""".stripMargin

  val (together, alone) = ("in one", "apart")

  private val view = "SELECT k, count(*) AS n, sum(v) AS s FROM t GROUP BY k"

  private def changes(query: String) = s"SELECT *, row_kind() AS op FROM ($query)"

  private def reuse(on: Boolean) =
    Map("spark.firesteel.changelog.reuseSubPlan.enabled" -> on.toString)

  /** @param union whether it is one query that reads the view several times */
  final private case class Case(
      title: String,
      format: String,
      queries: Seq[String],
      times: Double,
      union: Boolean = false)

  // Each reads the whole view: what a plain query would not read of it, it would not compute.
  private val four = Seq(
    "SELECT k, s - n AS x FROM sums",
    "SELECT k, s + n AS x FROM sums",
    "SELECT k, 2 * s - n AS x FROM sums",
    "SELECT k, s - 2 * n AS x FROM sums"
  )

  private val cases = Seq(
    Case("2 statements, Parquet", "parquet", four.take(2), 1.7),
    Case("4 statements, Parquet", "parquet", four, 3.0),
    Case("2 statements, JSON", "json", four.take(2), 1.8),
    Case("4 statements, JSON", "json", four, 3.3),
    Case(
      "2 statements with other filters and columns, Parquet",
      "parquet",
      Seq("SELECT k, n AS x FROM sums WHERE n > 3", "SELECT k, s AS x FROM sums WHERE s % 2 = 0"),
      1.5
    ),
    Case(
      "2 statements with filters of keys, 1 % and 10 % of all",
      "parquet",
      Seq(
        "SELECT k, n AS x FROM sums WHERE k < 1000",
        "SELECT k, s AS x FROM sums WHERE k > 90000"),
      1.0
    ),
    Case("1 statement, beside the plain query", "parquet", four.take(1), 0.95),
    Case(
      "UNION ALL of the view with two filters",
      "parquet",
      Seq("SELECT k, n AS x FROM sums WHERE n < 20 UNION ALL SELECT k, s FROM sums WHERE n > 30"),
      1.6,
      union = true
    )
  )

  private def table(rows: Long): Table = Table(
    "statements",
    rows,
    Seq(
      "id" -> "id",
      "k" -> "pmod(xxhash64(id, 1), 100000L)",
      "v" -> "pmod(xxhash64(id, 3), 100000)"),
    10)
}
