package io.firesteel.testkit

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.scalatest.Tag

/** A test that `make test` leaves out for its time. `make test-all` runs it, and so does CI. */
object SlowTest extends Tag("io.firesteel.testkit.SlowTest")

/** The slow tests: those of `tests/slow.txt`, which `build/slow_tests.py` writes from measured times. */
object SlowTests {

  private lazy val bySuite: Map[String, Set[String]] =
    Files.readAllLines(Path.of("tests", "slow.txt")).asScala.toSeq
      .map(_.split("\t")).collect { case Array(_, suite, test) => suite -> test }
      .groupMap(_._1)(_._2).view.mapValues(_.toSet).toMap

  /** The tags of a suite's tests, and [[SlowTest]] for those that are slow. */
  def tagged(
      suite: String,
      tests: Set[String],
      tags: Map[String, Set[String]]): Map[String, Set[String]] = {
    val slow = bySuite.getOrElse(suite, Set.empty)
    tags ++ tests.filter(test => slow(oneLine(test))).map { test =>
      test -> (tags.getOrElse(test, Set.empty) + SlowTest.name)
    }
  }

  private def oneLine(text: String): String = text.split("\\s+").mkString(" ").trim
}
