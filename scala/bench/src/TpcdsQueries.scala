package io.firesteel.bench

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

/** The queries of TPC-DS. The build takes them out of a test jar of Spark (see `build.sbt`). */
object TpcdsQueries {

  /** `q1` to `q99`; 14, 23, 24 and 39 are two queries each: `q14a` and `q14b`. */
  val names: Seq[String] = for {
    number <- 1 to 99
    variant <- Seq("", "a", "b")
    name = s"q$number$variant" if getClass.getResource(file(name)) != null
  } yield name

  /**
   * Queries that shuffle by some keys and later by a subset of them. In q67 the subset has some ten
   * values, so one shuffle for both would leave most of a cluster idle.
   */
  val subsetKeys: Seq[String] =
    Seq("q12", "q20", "q24a", "q24b", "q47", "q51", "q53", "q57", "q63") ++
      Seq("q65", "q67", "q75", "q89", "q98")

  def sql(name: String): String =
    Using.resource(getClass.getResourceAsStream(file(name))) { in =>
      new String(in.readAllBytes(), UTF_8)
    }

  private def file(name: String): String = s"/tpcds/$name.sql"
}
