package io.firesteel.json.files

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.util.Random

import io.firesteel.json.{Documents, Malformed, RandomDocuments}
import io.firesteel.testkit.{TestSize, TimedSuite}

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources._
import org.apache.spark.sql.types.StructType
import org.scalatest.Assertion

/** Lines of files have the rows and errors that Spark's parser makes of them. */
class SameLinesSuite extends TimedSuite {

  private val lines: Seq[Array[Byte]] =
    (Documents.all ++ Seq("", " ", "\t", "{}", " {} ", "[]", "[{},{\"a\":1}]", "\ufeff{\"a\":1}"))
      .map(_.getBytes(UTF_8)) ++ Malformed.all.map(_.getBytes(ISO_8859_1))

  private val modes = Seq("PERMISSIVE", "DROPMALFORMED", "FAILFAST")

  private def check(schema: String, options: Map[String, String]): Assertion = {
    val comparison = new LineComparison(StructType.fromDDL(schema), options)
    val differences = lines.flatMap(comparison.difference)
    assert(differences.isEmpty, s"${differences.length}: ${differences.take(5).mkString("\n")}")
    assert(comparison.own > 30, "the fast path read hardly anything")
  }

  for (mode <- modes) test(mode) {
    Seq(
      "a STRING",
      "a INT, b STRING",
      "b DOUBLE, a DECIMAL(5,2), c TIMESTAMP",
      "a ARRAY<INT>, b STRUCT<a: INT>, c MAP<STRING, STRING>",
      "_corrupt_record STRING, a INT, b BOOLEAN",
      "a DATE, bad STRING"
    ).foreach(check(_, Map("mode" -> mode)))
    check("a BIGINT, bad STRING", Map("mode" -> mode, "columnNameOfCorruptRecord" -> "bad"))
  }

  test("no column") {
    for (mode <- modes) {
      val comparison = new LineComparison(new StructType, Map("mode" -> mode))
      val differences = lines.flatMap(comparison.difference)
      val _ = assert(differences.isEmpty, differences.take(5).mkString("\n"))
    }
  }

  test("pushed filters, in the order of the document") {
    val filters = Seq[Filter](
      EqualTo("a", 1),
      GreaterThan("a", 0),
      IsNotNull("b"),
      IsNull("c"),
      And(IsNotNull("a"), StringContains("b", "x")),
      Or(IsNull("a"), LessThan("b", "m")),
      Not(EqualNullSafe("b", "y")),
      AlwaysFalse,
      In("a", Array(1, 2, 3))
    )
    for {
      mode <- modes
      pushed <- filters.map(Seq(_)) ++ filters.combinations(2)
    } {
      val schema = StructType.fromDDL("b STRING, a INT, c STRUCT<a: INT>")
      val comparison = new LineComparison(schema, Map("mode" -> mode), pushed)
      val differences = lines.flatMap(comparison.difference)
      val _ = assert(differences.isEmpty, s"$pushed ${differences.take(5).mkString("\n")}")
    }
  }

  test("pushed filters, where a value that cannot be read leaves the rest of its line unread") {
    val documents = Seq(
      """{"b":{"c":"x","a":77},"a":5}""",
      """{"b":{"c":"x"},"a":5}""",
      """{"a":77,"b":{"c":"x","a":5}}""",
      """{"b":{"c":1,"a":77},"a":5}""").map(_.getBytes(UTF_8))
    val whole = new SQLConf
    whole.setConf(SQLConf.JSON_ENABLE_PARTIAL_RESULTS, false)
    for {
      conf <- Seq(whole, new SQLConf)
      mode <- modes
      filter <- Seq(GreaterThan("a", 10), IsNull("a"), LessThan("a", 10))
    } SQLConf.withExistingConf(conf) {
      val comparison = new LineComparison(
        StructType.fromDDL("b STRUCT<c: INT>, a INT"),
        Map("mode" -> mode),
        Seq(filter))
      val differences = documents.flatMap(comparison.difference)
      val _ = assert(differences.isEmpty, s"$filter ${differences.mkString("\n")}")
    }
  }

  test("names with escapes where they are skipped") {
    val escapes = Seq("\\ude00", "\\ud83d", "q\\ud83dz", "\\ud83d\\ude00", "\\u0041", "\\n")
    val documents = escapes.flatMap { name =>
      Seq(
        s"""{"x":{"$name":1},"a":2}""",
        s"""{"x":{"y":{"$name":1}},"a":2}""",
        s"""{"x":[{"$name":1}],"a":2}""",
        s"""{"a":2,"x":{"$name":1}}""")
    }
    for {
      mode <- modes
      schema <- Seq("a INT", "x STRING, a INT", "a INT, x STRUCT<q: INT>", "x MAP<STRING, STRING>")
    } {
      val comparison = new LineComparison(StructType.fromDDL(schema), Map("mode" -> mode))
      val differences = documents.map(_.getBytes(UTF_8)).flatMap(comparison.difference)
      val _ = assert(differences.isEmpty, differences.take(5).mkString("\n"))
    }
  }

  test("random lines and changed ones") {
    for (i <- 0 until TestSize.cases(20)) {
      val random = new Random(TestSize.seed(20261129L) + i)
      val made = new RandomDocuments(random)
      val schema = made.struct(2)
      val comparison =
        new LineComparison(
          schema,
          Map("mode" -> modes(random.nextInt(modes.length))),
          schema.map(_.name).filter(_ => random.nextInt(6) == 0).map(IsNotNull(_)))
      for (_ <- 0 until 20) {
        val line = made.document(schema).getBytes(UTF_8)
        for (each <- line +: Seq.fill(9)(made.mutated(line))) {
          val difference = comparison.difference(each)
          val _ = assert(difference.isEmpty, s"case $i, ${schema.sql}: ${difference.mkString}")
        }
      }
    }
  }
}
