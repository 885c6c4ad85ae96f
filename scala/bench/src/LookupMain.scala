package io.firesteel.bench

import java.nio.file.{Files, Path}

import scala.util.Using

import org.apache.spark.sql.SparkSession

/** Times the cases of the lookup room and writes its page. */
object LookupMain {

  val room: String = "lookup"

  def run(arguments: Arguments): Unit = {
    val progress = new Progress(System.err)
    val sizes = LookupSizes(arguments.rows)
    Using.resource(new LookupServers(arguments.data, sizes, progress)) { servers =>
      chosen(new LookupBenchmark(sizes, servers).all, arguments) match {
        case Left(wrong) =>
          System.err.println(s"bench: $wrong\n${Arguments.usage}")
          sys.exit(2)
        case Right(cases) => measure(arguments, cases, servers, progress)
      }
    }
  }

  private def chosen(
      all: Seq[LookupCase],
      arguments: Arguments): Either[String, Seq[LookupCase]] = {
    val unknown = arguments.cases.filterNot(name => all.exists(_.name == name))
    if (arguments.noise) Left(s"no --noise in the room $room")
    else if (unknown.nonEmpty) {
      Left(s"no case ${unknown.mkString(", ")}; there are ${all.map(_.name).mkString(", ")}")
    } else if (arguments.cases.isEmpty) Right(all)
    else Right(all.filter(one => arguments.cases.contains(one.name)))
  }

  private def measure(
      arguments: Arguments,
      cases: Seq[LookupCase],
      servers: LookupServers,
      progress: Progress): Unit = {
    // One place after the other, because a process has one Spark.
    val inPlaces = Seq(Place.Local -> "local[2]", Place.Cluster -> "local-cluster[4,1,1024]")
      .flatMap { case (place, master) =>
        val here = cases.filter(_.place == place)
        if (here.isEmpty) Nil
        else within(arguments.data, master, servers) { spark =>
          val facts = (BenchSession.firesteelVersion(spark), spark.version)
          val runner = new LookupRunner(
            spark,
            new DataFolder(arguments.data, progress),
            new TaskLog(spark.sparkContext),
            progress,
            arguments.pairs)
          here.map(question => (runner.run(question), facts))
        }
      }
    val inPython = for {
      question <- cases.filter(_.place == Place.Python)
      file <- arguments.pythonResult
    } yield LookupResult(question, PythonRuns.load(file))
    val found = inPlaces.map(_._1) ++ inPython
    val (version, spark) = inPlaces.headOption.fold(("", ""))(_._2)
    write(
      arguments.out,
      cases.flatMap(question => found.find(_.question.name == question.name)),
      Environment.of(arguments.command, version, spark))
  }

  private def within[A](data: Path, master: String, servers: LookupServers)(
      body: SparkSession => A): A = {
    val settings = Map(
      "spark.sql.catalog.bench" -> classOf[BenchCatalog].getName,
      "spark.sql.catalog.bench.port" -> servers.slow.port.toString,
      // Hadoop's count of bytes read omits vectored reads.
      "spark.hadoop.parquet.hadoop.vectored.io.enabled" -> "false",
      // Wait for all four executors, or the first queries would run on fewer.
      "spark.scheduler.minRegisteredResourcesRatio" -> "1.0",
      "spark.scheduler.maxRegisteredResourcesWaitingTime" -> "60s"
    )
    val spark = BenchSession.start(data, installed = true, master, more = settings)
    try body(spark)
    finally spark.stop()
  }

  private def write(out: Path, results: Seq[LookupResult], environment: Environment): Unit = {
    Files.createDirectories(out)
    val page = LookupPage.of(results, environment)
    Files.writeString(out.resolve(s"$room.md"), page)
    Files.writeString(out.resolve(s"$room.json"), LookupJson.of(results, environment))
    println(page)
  }
}
