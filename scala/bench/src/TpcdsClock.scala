package io.firesteel.bench

/**
 * Times one query of TPC-DS on both sides in turn.
 *
 * @param pairs rounds that count, in each of which stock and firesteel run once
 */
final class TpcdsClock(clock: Clock, pairs: Int) {

  private val warmUps = 1 // comparing the answers was another

  def time(query: String, stock: Contestant, firesteel: Contestant): QueryTimes = {
    def rounds(number: Int): QueryTimes = round(query, stock, firesteel, number)

    (0 until warmUps).foreach(rounds)
    val first = (0 until pairs).map(rounds).reduce(_ ++ _)
    if (TpcdsClock.looksSlower(first)) {
      val fresh = (0 until TpcdsClock.secondLook).map(rounds).reduce(_ ++ _)
      untilClear(fresh, rounds).copy(firstLook = Some(first.speedUp.median))
    } else first
  }

  /** Adds rounds, up to a limit, while the machine's noise allows both verdicts. */
  private def untilClear(times: QueryTimes, round: Int => QueryTimes): QueryTimes = {
    val done = times.stockSeconds.size
    if (TpcdsClock.clear(times) || done >= TpcdsClock.mostRounds) times
    else untilClear(times ++ round(done) ++ round(done + 1), round)
  }

  private def round(
      query: String,
      stock: Contestant,
      firesteel: Contestant,
      number: Int): QueryTimes = {
    val runs = Rounds
      .order(Seq(stock, firesteel), number)
      .map(contestant => contestant.name -> clock.time(contestant))
      .toMap
    def of[A](side: Contestant, what: Run => A): Seq[A] = Seq(what(runs(side.name)))
    QueryTimes(
      query,
      of(stock, _.seconds),
      of(firesteel, _.seconds),
      of(stock, _.shuffledBytes),
      of(firesteel, _.shuffledBytes),
      firstLook = None)
  }
}

object TpcdsClock {

  /** Fresh rounds for a query that looks slower, enough for an interval around their median. */
  val secondLook: Int = 7

  val mostRounds: Int = 11

  def looksSlower(times: QueryTimes): Boolean =
    TpcdsResults.bound.missedBy(times.speedUp.median).nonEmpty

  /** Whether more rounds would hardly change the verdict. */
  def clear(times: QueryTimes): Boolean = {
    val (low, high) = times.speedUp.medianInterval
    low >= TpcdsResults.bound.value || high < TpcdsResults.bound.value
  }
}
