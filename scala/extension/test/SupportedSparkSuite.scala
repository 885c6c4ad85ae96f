package io.firesteel.extension

import org.apache.spark.SPARK_VERSION
import org.scalatest.funsuite.AnyFunSuite

/** The versions of Spark on which a session may start. */
class SupportedSparkSuite extends AnyFunSuite {

  private val line = SupportedSpark.line

  Seq("", ".0", ".17", ".1-vendor-2", "-SNAPSHOT").map(line + _).foreach { running =>
    test(s"runs on $running") {
      SupportedSpark.require(running)
    }
  }

  test("runs on the Spark that it is tested with") {
    SupportedSpark.require(SPARK_VERSION)
  }

  private val others = Seq("3.5.9", "4.0.5", "4.1.4", "4.2.1", "4.3.0", "4.4.0", "5.0.0") ++
    Seq(s"${line}0.0", s"1$line.0")

  others.filterNot(_.startsWith(s"$line.")).foreach { running =>
    test(s"refuses $running, and names both versions") {
      val error = intercept[UnsupportedOperationException](SupportedSpark.require(running))
      assert(error.getMessage.contains(s"built for Spark $line,"))
      assert(error.getMessage.contains(s"on Spark $running:"))
    }
  }

  // Another Spark only warns if it cannot link one of these two, and starts without firesteel.
  Seq(
    "io/firesteel/FiresteelExtensions",
    "io/firesteel/extension/SupportedSpark",
    "io/firesteel/extension/SupportedSpark$").foreach { name =>
    test(s"$name names no class that another Spark may not have") {
      val file = getClass.getClassLoader.getResourceAsStream(s"$name.class")
      val text = new String(file.readAllBytes(), "ISO-8859-1")
      val named = raw"(org/apache|scala)/[\w/]+\$$?".r.findAllIn(text).toSet
      assert(named.subsetOf(everywhere))
    }
  }

  private val everywhere = Set(
    "org/apache/spark/package$",
    "org/apache/spark/sql/SparkSessionExtensions",
    "scala/Function1",
    "scala/reflect/ScalaSignature",
    "scala/runtime/BoxedUnit"
  )
}
