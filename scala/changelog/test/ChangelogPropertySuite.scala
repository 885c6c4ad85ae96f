package io.firesteel.changelog

import org.apache.spark.sql.Row
import org.apache.spark.sql.internal.SQLConf
import org.scalacheck.{Gen, Prop, Test}
import org.scalacheck.rng.Seed

/**
 * Random queries over random micro-batches: the changelog applied row by row is the batch query's
 * answer after each of them, on both providers, with restarts between.
 */
class ChangelogPropertySuite extends ChangelogSuite {

  private case class Case(
      query: String,
      batches: Seq[Seq[Row]],
      restarts: Set[Int],
      settings: Seq[(String, Any)])

  private val cases: Gen[Case] = for {
    query <- RandomQueries.query
    batches <- RandomQueries.batches
    restart <- Gen.frequency(2 -> Gen.const(Set.empty[Int]), 1 -> Gen.choose(1, 3).map(Set(_)))
    provider <- Gen.frequency(2 -> hdfs, 1 -> rocksDb)
    buffered <- Gen.frequency(3 -> 100000, 1 -> 1, 1 -> 3)
    wholeStage <- Gen.frequency(3 -> false, 1 -> true)
    partitions <- Gen.frequency(3 -> 2, 1 -> 1, 1 -> 3)
  } yield Case(
    query.sql,
    batches,
    restart,
    Seq(
      SQLConf.STATE_STORE_PROVIDER_CLASS.key -> provider,
      SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> wholeStage,
      ChangelogConf.MAX_BUFFERED_ROWS.key -> buffered,
      SQLConf.SHUFFLE_PARTITIONS.key -> partitions
    )
  )

  test("the changelog of a random query is the batch query's answer after every micro-batch") {
    check(12) { c =>
      val _ = assertFollows(RandomQueries.schema, c.query, c.batches, c.restarts)
    }
  }

  test("the upsert stream of a random query with a key is the batch query's answer too") {
    var keyed = 0
    check(8) { c =>
      if (assertUpserts(RandomQueries.schema, c.query, c.batches)) keyed += 1
    }
    assert(keyed > 0, "some random queries have a key")
  }

  /** Checks random cases: so many, or as many as the environment says. */
  private def check(few: Int)(body: Case => Unit): Unit = {
    val property = Prop.forAllNoShrink(cases) { c =>
      withConf(c.settings: _*)(body(c))
      Prop.passed
    }
    val queries = sys.env.getOrElse("FIRESTEEL_TEST_QUERIES", few.toString).toInt
    val seed = sys.env.get("FIRESTEEL_TEST_SEED").fold(Seed(20261121L))(s => Seed(s.toLong))
    val result = Test.check(
      Test.Parameters.default.withMinSuccessfulTests(queries).withInitialSeed(seed),
      property)
    result.status match {
      case Test.PropException(arguments, e, _) =>
        fail(s"${arguments.map(_.arg).mkString("\n")}\n${e.getMessage}", e)
      case status =>
        val _ = assert(result.passed, status)
    }
  }
}
