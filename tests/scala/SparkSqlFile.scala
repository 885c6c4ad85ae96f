package io.firesteel.tests

import java.nio.charset.StandardCharsets.UTF_8

/**
 * One of Spark's own files of SQL tests: its settings and its statements, in order.
 *
 * Written from the header of Spark's `SQLQueryTestSuite`, which says how they are written.
 */
final class SparkSqlFile(val name: String) {

  private val lines: Seq[String] =
    SparkSqlFile.text(name).linesIterator.toSeq.flatMap { line =>
      line match {
        case SparkSqlFile.Import(other) => new SparkSqlFile(other).lines
        case _ => Seq(line)
      }
    }

  val settings: Seq[(String, String)] = lines.collect { case SparkSqlFile.Settings(all) =>
    all.split(",").toSeq.map(_.split("=", 2)).collect { case Array(key, value) =>
      key.trim -> value.trim
    }
  }.flatten

  val statements: Seq[String] = lines
    .filterNot(_.trim.startsWith("--"))
    .mkString("\n")
    .split("(?<=[^\\\\]);(\\s*--[^\\n]*)?\\s*(\\n|$)")
    .toSeq
    .map(_.trim)
    .filter(_.nonEmpty)
}

object SparkSqlFile {

  /** Whether a statement is a query, which a stream may be of. */
  def isQuery(text: String): Boolean =
    text.matches("(?is)\\s*(/\\*.*?\\*/\\s*)*\\(*\\s*(select|with|from|table|values)\\b.*") &&
      !text.matches("(?is).*\\binsert\\s+into\\b.*")

  private val Settings = "\\s*--SET (.*)".r
  private val Import = "\\s*--IMPORT (.*)".r

  private def text(name: String): String = {
    val in = getClass.getClassLoader.getResourceAsStream(s"sql-tests/inputs/$name")
    require(in != null, s"no file $name")
    try new String(in.readAllBytes(), UTF_8)
    finally in.close()
  }
}
