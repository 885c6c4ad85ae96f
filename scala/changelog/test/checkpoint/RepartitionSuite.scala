package io.firesteel.changelog.checkpoint

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.Row
import org.scalatest.Assertion

/** One query, and the check that its checkpoint is refused. */
abstract class RepartitionSuite extends ChangelogSuite {

  protected val schema = "k INT"
  protected val sql =
    "SELECT c, count(*) AS n FROM (SELECT k, count(*) AS c FROM {t} GROUP BY k) GROUP BY c"

  protected def rows(from: Int): Seq[Row] = (0 until 20).map(i => Row((i * from) % 7))

  protected def feed(fed: ChangelogStream, from: Int): Assertion = {
    fed.feed(rows(from))
    assert(fed.difference.isEmpty)
  }

  protected def fedTwice[T](body: ChangelogStream => T): T = {
    val fed = stream(schema, sql)
    try {
      fed.start()
      feed(fed, 1)
      feed(fed, 2)
      body(fed)
    } finally fed.stop()
  }

  protected def files(checkpoint: String): Set[String] =
    Using.resource(Files.walk(Path.of(checkpoint)))(_.iterator.asScala.map(_.toString).toSet)

  /** The condition with which it is refused; no file has come or gone. */
  protected def refused(checkpoint: String, n: Int = 3): String = {
    val before = files(checkpoint)
    val error = intercept[SparkThrowable](RepartitionState(spark, checkpoint, n))
    assert(files(checkpoint) == before)
    error.getCondition.stripPrefix("FIRESTEEL_REPARTITION_")
  }
}
