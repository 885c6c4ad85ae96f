package io.firesteel.changelog

import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.testkit.TestSize
import org.apache.spark.sql.Row
import org.apache.spark.sql.internal.SQLConf
import org.scalacheck.{Gen, Prop, Test}
import org.scalacheck.rng.Seed

/** A random query, what it is fed, when it is restarted, and how it is run. */
final case class RandomCase(
    query: String,
    batches: Seq[Seq[Row]],
    restarts: Set[Int],
    settings: Seq[(String, Any)])

/** Checks random cases, on both providers, with restarts between. */
trait RandomCases { self: ChangelogSuite =>

  /** The same cases for the same number. */
  protected val seed: Long = TestSize.seed(20261121L)

  protected def randomCases(
      queries: Gen[RandomQueries.Query],
      batches: Gen[Seq[Seq[Row]]]): Gen[RandomCase] = for {
    query <- queries
    batches <- batches
    restart <- Gen.frequency(2 -> Gen.const(Set.empty[Int]), 1 -> Gen.choose(1, 3).map(Set(_)))
    provider <- Gen.frequency(2 -> hdfs, 1 -> rocksDb)
    buffered <- Gen.frequency(3 -> 100000, 1 -> 1, 1 -> 3)
    wholeStage <- Gen.frequency(3 -> false, 1 -> true)
    partitions <- Gen.frequency(3 -> 2, 1 -> 1, 1 -> 3)
    distinctBuckets <- Gen.frequency(3 -> 0, 1 -> 3)
    shares <- Gen.frequency(3 -> true, 1 -> false)
    partialKey <- Gen.frequency(3 -> false, 1 -> true)
  } yield RandomCase(
    query.sql,
    batches,
    restart,
    Seq(
      SQLConf.STATE_STORE_PROVIDER_CLASS.key -> provider,
      SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> wholeStage,
      ChangelogConf.MAX_BUFFERED_ROWS.key -> buffered,
      SQLConf.SHUFFLE_PARTITIONS.key -> partitions,
      ChangelogConf.DISTINCT_BUCKETS.key -> distinctBuckets,
      ChangelogConf.MULTIPLE_INPUT.key -> shares,
      ChangelogConf.PARTIAL_KEY.key -> partialKey
    )
  )

  /** Checks random cases: so many, or as many as the environment says. */
  protected def check(cases: Gen[RandomCase], few: Int)(body: RandomCase => Unit): Unit =
    checked(cases, TestSize.cases(few))(body)

  /** The same, with a number of its own for the long tests. */
  protected def check(cases: Gen[RandomCase], few: Int, inLong: Int)(
      body: RandomCase => Unit): Unit = checked(cases, TestSize.cases(few, inLong))(body)

  private def checked(cases: Gen[RandomCase], queries: Int)(body: RandomCase => Unit): Unit = {
    val property = Prop.forAllNoShrink(cases) { c =>
      withConf(c.settings: _*)(body(c))
      Prop.passed
    }
    val result = Test.check(
      Test.Parameters.default.withMinSuccessfulTests(queries).withInitialSeed(Seed(seed)),
      property)
    result.status match {
      case Test.PropException(arguments, e, _) =>
        fail(s"${arguments.map(_.arg).mkString("\n")}\n${e.getMessage}", e)
      case status =>
        val _ = assert(result.passed, status)
    }
  }
}
