package io.firesteel.testkit

/**
 * How much the tests do. `make test` leaves out the tests of [[SlowTests]] and tries very few random
 * cases of each kind. `make test-all` runs the slow tests, and four times as many random cases.
 * `make test-long` tries ten times as many again, and runs the tests that are tagged [[LongTest]].
 */
object TestSize {

  /** Whether this is `make test-long`. */
  val isLong: Boolean = sys.env.contains("FIRESTEEL_TEST_LONG")

  /** Whether this is `make test`. */
  private val isFast: Boolean = sys.env.contains("FIRESTEEL_TEST_FAST")

  /** Random cases of one test: `FIRESTEEL_TEST_QUERIES` where it is set. */
  def cases(few: Int): Int = cases(few, 10 * few)

  /** The same, with a number of its own for the long tests. */
  def cases(few: Int, inLong: Int): Int =
    sys.env.get("FIRESTEEL_TEST_QUERIES")
      .fold(if (isLong) inLong else if (isFast) (few + 3) / 4 else few)(_.toInt)

  /** The seed of the random cases: `FIRESTEEL_TEST_SEED` where it is set. */
  def seed(usual: Long): Long = sys.env.get("FIRESTEEL_TEST_SEED").fold(usual)(_.toLong)
}
