package io.firesteel.changelog.sql

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite, RandomCase, RandomCases, RandomChangelogs, RandomQueries}
import org.apache.spark.sql.Row
import org.scalacheck.Gen

/**
 * Random queries over random changelogs: after every micro-batch the result, applied row by row, is
 * the batch query's over the table that the changelog has made so far.
 */
class ChangelogSourcePropertySuite extends ChangelogSuite with RandomCases {

  private def cases(batches: Gen[Seq[Seq[Row]]]): Gen[RandomCase] =
    Gen.frequency(1 -> Gen.const(RandomQueries.plain), 5 -> RandomQueries.query)
      .flatMap(query => randomCases(Gen.const(query), batches))

  private def follows(source: ChangelogStream.Source)(c: RandomCase): Unit = {
    val _ = assertFollows(RandomChangelogs.schema, c.query, c.batches, c.restarts, source)
  }

  test("random queries over full changelogs") {
    check(cases(RandomChangelogs.fullBatches), 5)(follows(RandomChangelogs.full))
  }

  test("random queries over upserts") {
    check(cases(RandomChangelogs.upsertBatches), 5)(follows(RandomChangelogs.upserts))
  }

  test("random queries over upserts in any order, by a sequence") {
    check(cases(RandomChangelogs.upsertBatches), 5)(follows(RandomChangelogs.sequenced))
  }

  test("upsert streams of random queries over upserts") {
    var keyed = 0
    check(cases(RandomChangelogs.upsertBatches), 4) { c =>
      if (assertUpserts(
          RandomChangelogs.schema,
          c.query,
          c.batches,
          RandomChangelogs.upserts)) keyed += 1
    }
    assert(keyed > 0, "some random queries have a key")
  }
}
