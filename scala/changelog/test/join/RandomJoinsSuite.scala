package io.firesteel.changelog.join

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite, RandomChangelogs, RandomJoins}
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.testkit.TestSize

import scala.util.control.NonFatal

import org.apache.spark.sql.Row
import org.apache.spark.sql.internal.SQLConf
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/** A random query of several inputs, what they are, and how it is run. */
final private case class RandomJoin(
    sql: String,
    source: ChangelogStream.Source,
    batches: Seq[Seq[Row]],
    mode: String,
    restarts: Set[Int],
    settings: Seq[(String, Any)])

/**
 * Random queries of two and three inputs, of which rows come, are replaced and go: after every
 * micro-batch the result is the batch query's answer, in each output mode.
 *
 * A failure says the number of its case: `FIRESTEEL_TEST_SEED=<number> FIRESTEEL_TEST_QUERIES=1` runs
 * it alone.
 */
class RandomJoinsSuite extends ChangelogSuite {

  private def store(provider: String, format: Int): Seq[(String, Any)] = Seq(
    SQLConf.STATE_STORE_PROVIDER_CLASS.key -> provider,
    SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> format,
    // A copy of the whole store after each micro-batch would take most of the time.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> true
  )

  private val cases: Gen[RandomJoin] = for {
    query <- RandomJoins.query
    (source, batches) <- RandomChangelogs.inputs(RandomJoins.names)
    mode <- Gen.frequency(3 -> "append", 2 -> "update", 1 -> "complete")
    restarts <- Gen.frequency(2 -> Gen.const(Set.empty[Int]), 1 -> Gen.choose(1, 3).map(Set(_)))
    store <- Gen.frequency(6 -> store(hdfs, 1), 1 -> store(rocksDb, 1), 1 -> store(rocksDb, 2))
    buffered <- Gen.frequency(3 -> 100000, 1 -> 1, 1 -> 3)
    partitions <- Gen.frequency(3 -> 1, 2 -> 2, 1 -> 3)
    // To compile takes longer than to run over so few rows.
    compiled <- Gen.frequency(5 -> interpreted, 1 -> Nil)
  } yield RandomJoin(
    query.sql,
    source,
    batches,
    mode,
    restarts,
    store ++ compiled ++ Seq(
      ChangelogConf.MAX_BUFFERED_ROWS.key -> buffered,
      SQLConf.SHUFFLE_PARTITIONS.key -> partitions)
  )

  private val schema = RandomChangelogs.schemaOfInputs

  private def run(c: RandomJoin): Unit = withConf(c.settings: _*) {
    c.mode match {
      case "complete" =>
        val _ = assertWhole(schema, c.sql, c.batches, c.restarts, c.source)
      case "update" if assertUpserts(schema, c.sql, c.batches, c.source) => ()
      case _ =>
        val _ = assertFollows(schema, c.sql, c.batches, c.restarts, c.source)
    }
  }

  /** What goes wrong, if anything does. */
  private def wrong(c: RandomJoin): Option[String] =
    try {
      run(c)
      None
    } catch { case NonFatal(e) => Some(String.valueOf(e.getMessage)) }

  test("after every micro-batch the result is the batch query's answer") {
    val first = TestSize.seed(20261126L)
    val failed = (0 until TestSize.cases(16, inLong = 1000)).flatMap { i =>
      val c = cases.pureApply(Gen.Parameters.default, Seed(first + i))
      wrong(c).map { said =>
        val settings = c.settings.map { case (key, value) => s"$key=$value" }
        val kinds = c.source.parts.map(_._2).map(kindOf)
        val text = s"case ${first + i}: ${c.sql}\n${c.mode}, inputs ${kinds.mkString(", ")}, " +
          s"restarts ${c.restarts.mkString(" ")}, ${settings.mkString(", ")}\n$said"
        alert(text) // at once, before the others have run
        text
      }
    }
    assert(
      failed.isEmpty,
      s"${failed.size} cases: ${failed.map(_.takeWhile(_ != ':')).mkString(" ")}")
  }

  private def kindOf(source: ChangelogStream.Source): String =
    if (source eq RandomChangelogs.inserted) "insertions"
    else if (source eq RandomChangelogs.full) "whole rows"
    else if (source eq RandomChangelogs.upserts) "upserts"
    else "upserts in sequence"
}
