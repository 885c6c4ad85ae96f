package io.firesteel.testkit

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.scalatest.Tag

/** A test that `make test` leaves out for its time. `make test-all` runs it, and so does CI. */
object SlowTest extends Tag("io.firesteel.testkit.SlowTest")

/**
 * The slow tests: those of `tests/slow.txt`, which `build/slow_tests.py` writes from measured times.
 * Those of `tests/long.txt` are left out of `make test-all`, too: others try nearly the same.
 */
object SlowTests {

  private lazy val slow = listed("slow.txt")
  private lazy val long = listed("long.txt")

  private def listed(file: String): Map[String, Set[String]] =
    Files.readAllLines(Path.of("tests", file)).asScala.toSeq
      .map(_.split("\t")).collect { case Array(_, suite, test) => suite -> test }
      .groupMap(_._1)(_._2).view.mapValues(_.toSet).toMap

  /** The tags of a suite's tests, and [[SlowTest]] or [[LongTest]] for those of the lists. */
  def tagged(
      suite: String,
      tests: Set[String],
      tags: Map[String, Set[String]]): Map[String, Set[String]] = {
    def of(list: Map[String, Set[String]], tag: Tag) = {
      val names = list.getOrElse(suite, Set.empty)
      tests.filter(test => names(oneLine(test))).toSeq.map(_ -> tag.name)
    }
    val more = (of(slow, SlowTest) ++ of(long, LongTest)).groupMap(_._1)(_._2)
    tags ++ more.map { case (test, its) => test -> (tags.getOrElse(test, Set.empty) ++ its) }
  }

  private def oneLine(text: String): String = text.split("\\s+").mkString(" ").trim
}
