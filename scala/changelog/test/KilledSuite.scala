package io.firesteel.changelog

import io.firesteel.testkit.LongTest
import java.io.{BufferedReader, InputStreamReader}
import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.{Random, Using}

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/**
 * Random queries of one input and of several, in a process that is killed at random moments and
 * started again on their
 * checkpoints: at the end the changelogs, each micro-batch's once, make the batch queries' answers.
 *
 * `FIRESTEEL_TEST_KILLS` sets the number of kills; each takes some seconds.
 */
class KilledSuite extends ChangelogSuite with RandomCases {

  private val kills = sys.env.getOrElse("FIRESTEEL_TEST_KILLS", "10").toInt
  private val (queriesAtOnce, killsInARow) = (2, 4)

  private val schema = StructType.fromDDL(RandomQueries.schema)
  private var seeds = Seed(seed)

  private def sample[T](of: Gen[T]): T = {
    val (value, next) = (of.pureApply(Gen.Parameters.default, seeds), seeds.next)
    seeds = next
    value
  }

  /** A query that is run by others, and all that it was fed. */
  final private class Victim(val query: KilledQuery) {

    private val fed = mutable.ArrayBuffer.empty[Row]
    private var files = 0

    def feed(): Unit = sample(RandomQueries.batches).foreach { rows =>
      fed ++= rows
      val making = Files.createTempDirectory("firesteel-fed")
      spark.createDataFrame(rows.asJava, schema).coalesce(1).write.mode("overwrite")
        .parquet(making.toString)
      val made = Using.resource(Files.list(making))(
        _.iterator.asScala.find(_.toString.endsWith(".parquet")).get)
      Files.move(made, query.source.resolve(s"$files.parquet"))
      files += 1
    }

    def difference: Option[String] = {
      val consumed = new ConsumedTable
      KilledProgram.changes(query).foreach(consumed.consume)
      spark.createDataFrame(fed.asJava, schema).createOrReplaceTempView("fed")
      val answer = spark.sql(query.sql.replace("{t}", "fed")).collect().toSeq
      consumed.wrong.orElse {
        val (wanted, has) = (ChangelogStream.bag(answer).toSet, consumed.rows.toSet)
        if (wanted == has) None
        else Some(s"only the changelog's: ${has -- wanted}; only the batch's: ${wanted -- has}")
      }.map(said => s"$query: $said")
    }
  }

  /** Each input is a part of the rows. */
  private val join: Gen[RandomQueries.Query] = RandomJoins.query.map { query =>
    query.copy(sql = RandomJoins.names.zipWithIndex.foldLeft(query.sql) { case (sql, (name, i)) =>
      sql.replace(s"{$name}", s"(SELECT * FROM {t} WHERE pmod(id, ${RandomJoins.names.size}) = $i)")
    })
  }

  private def victims(folder: Path): Seq[Victim] = (0 until queriesAtOnce).map { i =>
    val queries = if (i % 2 == 0) RandomQueries.query else join
    val of = sample(randomCases(queries, RandomQueries.batches))
    val at = Files.createDirectories(folder.resolve(i.toString))
    val query = KilledQuery(
      at.toString,
      of.query,
      of.settings.map { case (key, value) => key -> value.toString })
    Files.createDirectories(query.source)
    new Victim(query)
  }

  private def start(jobs: Path): Process = {
    val java = Path.of(sys.props("java.home"), "bin", "java").toString
    val options = ManagementFactory.getRuntimeMXBean.getInputArguments.asScala
    // A process that lives for seconds never earns back what the second compiler costs.
    val command = (java +: options.toSeq) ++
      Seq(
        "-XX:TieredStopAtLevel=1",
        "-cp",
        sys.props("java.class.path"),
        KilledProgram.getClass.getName.stripSuffix("$"))
    new ProcessBuilder((command :+ jobs.toString): _*)
      .redirectError(jobs.resolveSibling("errors").toFile)
      .start()
  }

  /** Runs the queries, and does something when they run, with what the process says then. */
  private def running[T](folder: Path)(body: (Process, BufferedReader) => T): T = {
    val process = start(folder.resolve("jobs"))
    try {
      val said = new BufferedReader(new InputStreamReader(process.getInputStream))
      val line = Iterator.continually(said.readLine())
        .find(line => line == null || line == KilledProgram.running)
      assert(line.contains(KilledProgram.running), errors(folder))
      body(process, said)
    } finally {
      val _ = process.destroyForcibly().waitFor()
    }
  }

  test("random queries that are killed at random moments emit each change once", LongTest) {
    val random = new Random(seed)
    var killed = 0
    while (killed < kills) {
      val folder = Files.createTempDirectory("firesteel-killed")
      val all = victims(folder)
      KilledProgram.save(folder.resolve("jobs"), all.map(_.query).toVector)
      val until = math.min(kills, killed + killsInARow)
      while (killed < until) {
        all.foreach(_.feed())
        // One that ends before is not counted, but its queries go on with the next all the same.
        running(folder) { (process, _) =>
          if (!process.waitFor(random.nextInt(6000).toLong, TimeUnit.MILLISECONDS)) killed += 1
        }
      }
      running(folder) { (process, said) =>
        val rest = Iterator.continually(said.readLine()).takeWhile(_ != null).toSeq
        assert(process.waitFor() == 0 && rest.contains(KilledProgram.done), errors(folder))
      }
      all.flatMap(_.difference).foreach(fail(_))
    }
  }

  private def errors(folder: Path): String = Files.readString(folder.resolve("errors"))
}
