package io.firesteel.json.files

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.util.Random

import io.firesteel.json.{Documents, Malformed, RandomDocuments}
import io.firesteel.testkit.{TestSize, TimedSuite}

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

  test("random lines and changed ones") {
    for (i <- 0 until TestSize.cases(20)) {
      val random = new Random(TestSize.seed(20261129L) + i)
      val made = new RandomDocuments(random)
      val schema = made.struct(2)
      val comparison =
        new LineComparison(schema, Map("mode" -> modes(random.nextInt(modes.length))))
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
