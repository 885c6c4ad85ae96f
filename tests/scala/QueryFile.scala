package io.firesteel.tests

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import io.firesteel.testkit.SinceSpark

/**
 * A file `tests/queries/<room>/<name>.sql`. Its header is lines of comment: `-- expect: <outcome>`, any
 * number of them, `-- set: <key>=<value>`, `-- mode: <output mode>` of a stream, `-- plan: ours` where
 * Spark's own plan is another from run to run, `-- since: <minor version>` if older ones of Spark
 * cannot parse it.
 */
final private[tests] case class QueryFile(
    room: String,
    name: String,
    header: Seq[String],
    sql: String) {

  /** What is to happen, in words of the suite that runs the query. */
  def expected: Seq[String] = header.collect { case s"expect: $outcome" => outcome }

  def settings: Seq[(String, String)] =
    header.collect { case s"set: $key=$value" => key -> value }

  def mode: String = header.collectFirst { case s"mode: $mode" => mode }.getOrElse("append")

  /** Whether Spark's plan is the same whatever ids its columns have: it groups `DISTINCT`s by a hash of them. */
  def hasSparksPlan: Boolean = !header.contains("plan: ours")

  /** Whether this Spark can parse it. */
  private def isOfThisSpark: Boolean =
    header.collect { case s"since: $minor" => minor }.forall(SinceSpark.is)

  /** Where its plan is. */
  def plan: Path = QueryFile.root.resolve(s"plans/$room/$name.txt")
}

private[tests] object QueryFile {

  private val root = Path.of("tests")

  /** All but the queries of Nexmark, which read tables of their own: see `NexmarkStreamsSuite`. */
  def all: Seq[QueryFile] = {
    val walk = Files.walk(root.resolve("queries"))
    try
      walk.iterator().asScala.filter(_.toString.endsWith(".sql")).toSeq.sortBy(_.toString).map(read)
        .filter(file => file.room != "nexmark" && file.isOfThisSpark)
    finally walk.close()
  }

  private def read(file: Path): QueryFile = {
    val lines = Files.readString(file, UTF_8).linesIterator.toSeq
    QueryFile(
      room = file.getParent.getFileName.toString,
      name = file.getFileName.toString.stripSuffix(".sql"),
      header = lines.filter(_.startsWith("-- ")).map(_.drop(3)),
      sql = lines.filterNot(_.startsWith("--")).mkString("\n").trim
    )
  }
}
