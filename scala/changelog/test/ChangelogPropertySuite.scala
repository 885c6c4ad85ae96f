package io.firesteel.changelog

/**
 * Random queries over random micro-batches: the changelog applied row by row is the batch query's
 * answer after each of them, on both providers, with restarts between.
 */
class ChangelogPropertySuite extends ChangelogSuite with RandomCases {

  private val cases = randomCases(RandomQueries.query, RandomQueries.batches)

  test("the changelog of a random query is the batch query's answer after every micro-batch") {
    check(cases, 12) { c =>
      val _ = assertFollows(RandomQueries.schema, c.query, c.batches, c.restarts)
    }
  }

  test("the upsert stream of a random query with a key is the batch query's answer too") {
    var keyed = 0
    check(cases, 8) { c =>
      if (assertUpserts(RandomQueries.schema, c.query, c.batches)) keyed += 1
    }
    assert(keyed > 0, "some random queries have a key")
  }
}
