package io.firesteel.bench

import java.nio.file.{Files, Path, Paths}

import scala.util.hashing.MurmurHash3

import org.apache.spark.sql.SparkSession

/** Runs the queries of TPC-DS with and without firesteel, and writes their page. */
object TpcdsMain {

  val suite: String = "tpcds"

  def run(arguments: Seq[String]): Unit = TpcdsArguments.parse(arguments) match {
    case Left(wrong) =>
      System.err.println(s"bench: $wrong\n${TpcdsArguments.usage}")
      sys.exit(2)
    case Right(asked) =>
      // The gain without any setting counts.
      val spark = BenchSession.start(asked.data, installed = !asked.noise, partitions = None)
      val results =
        try measure(spark, asked)
        finally spark.stop()
      write(asked.out, results)
      val wrong = results.results.map(_.answer).filterNot(_.verdict.right)
      wrong.foreach { answer =>
        System.err.println(s"bench: ${answer.query}: ${answer.verdict.name}: ${answer.detail}")
      }
      if (wrong.nonEmpty) sys.exit(1)
  }

  private def measure(spark: SparkSession, asked: TpcdsArguments): TpcdsResults = {
    val version = if (asked.noise) "not installed" else BenchSession.firesteelVersion(spark)
    val progress = new Progress(System.err)
    val environment = Environment.of(asked.command, version, spark.version)
    val file = logFile(asked, environment)
    progress.line(s"what is found out goes to $file at once")
    new TpcdsData(asked.data, asked.scale, progress).register(spark)
    val runner = new TpcdsRunner(
      spark,
      asked.settings,
      firesteelOn = !asked.noise,
      asked.pairs,
      OutcomeLog.open(file, asked.resume),
      progress)
    TpcdsResults(
      environment,
      asked.scale,
      asked.settings,
      asked.noise,
      runner.run(asked.queries, timed = !asked.answersOnly),
      asked.means.map(queries => queries.mkString(", ") -> queries)
    )
  }

  /**
   * In the build's folder. The name contains everything that decides the figures, except the
   * queries: several runs may add different queries.
   */
  private def logFile(asked: TpcdsArguments, environment: Environment): Path = {
    val facts = environment.facts.filterNot { case (name, _) => Set("command", "date")(name) }
    val decisive = Seq[Any](asked.scale, asked.pairs, asked.settings, asked.noise, facts)
    Paths.get(f"target/bench/$suite-${MurmurHash3.seqHash(decisive)}%08x.jsonl")
  }

  private def write(out: Path, results: TpcdsResults): Unit = {
    Files.createDirectories(out)
    val page = TpcdsPage.of(results)
    Files.writeString(out.resolve(s"${results.fileName}.md"), page)
    Files.writeString(out.resolve(s"${results.fileName}.json"), TpcdsJson.of(results))
    println(page)
  }
}
