package io.firesteel.bench

/**
 * One side's run for its answer.
 *
 * @param shuffles exchanges that moved rows in the final adaptive plan
 * @param fired rules, once for each of their operators in that plan
 * @param declined the codes of the reasons
 */
final case class SideOutcome(
    rows: Long,
    shuffles: Int,
    rowsShuffled: Long,
    fired: Seq[String],
    declined: Seq[String])

/** Whether firesteel's answer equals stock's. */
sealed abstract class Verdict(val name: String, val right: Boolean)

object Verdict {

  case object Equal extends Verdict("equal", right = true)

  /** `ORDER BY … LIMIT` may end with any of the rows that tie for the last place. */
  case object EqualButForTies extends Verdict("equal but for ties", right = true)

  case object Different extends Verdict("different", right = false)

  case object Failed extends Verdict("failed", right = false)

  val all: Seq[Verdict] = Seq(Equal, EqualButForTies, Different, Failed)
}

/** @param detail some rows that differ, or the error */
final case class QueryAnswer(
    query: String,
    verdict: Verdict,
    detail: String,
    stock: Option[SideOutcome],
    firesteel: Option[SideOutcome])

/**
 * The times, with a value for each round.
 *
 * @param firstLook the ratio stock / firesteel that made the query look slower, if it ran again.
 *   The first rounds do not count then, because they were chosen for being slow
 */
final case class QueryTimes(
    query: String,
    stockSeconds: Seq[Double],
    firesteelSeconds: Seq[Double],
    stockBytes: Seq[Long],
    firesteelBytes: Seq[Long],
    firstLook: Option[Double]) {

  def speedUp: Sample = Sample.ofRatios(Sample(stockSeconds), Sample(firesteelSeconds))

  /** These rounds, then the others. */
  def ++(later: QueryTimes): QueryTimes = copy(
    stockSeconds = stockSeconds ++ later.stockSeconds,
    firesteelSeconds = firesteelSeconds ++ later.firesteelSeconds,
    stockBytes = stockBytes ++ later.stockBytes,
    firesteelBytes = firesteelBytes ++ later.firesteelBytes
  )
}

/** All results of one query. Times are missing if the run ended before. */
final case class TpcdsResult(answer: QueryAnswer, times: Option[QueryTimes]) {

  def query: String = answer.query

  def speedUp: Option[Sample] = times.map(_.speedUp)
}

/**
 * The content of the page.
 *
 * @param means names and queries of the requested geometric means
 */
final case class TpcdsResults(
    environment: Environment,
    scale: Double,
    settings: Map[String, String],
    noise: Boolean,
    results: Seq[TpcdsResult],
    means: Seq[(String, Seq[String])]) {

  def fileName: String = if (noise) s"${TpcdsMain.suite}-noise" else TpcdsMain.suite

  /** The geometric mean over those of the queries that have times. */
  def geometricMean(queries: Seq[String]): Option[Double] = {
    val ratios = results.filter(r => queries.contains(r.query)).flatMap(_.speedUp).map(_.median)
    Option.when(ratios.nonEmpty)(math.exp(ratios.map(math.log).sum / ratios.size))
  }

  /** Bytes that firesteel shuffles in these queries, as a share of stock's. */
  def shareOfBytes(queries: Seq[String]): Option[Double] = {
    val timed = results.filter(r => queries.contains(r.query)).flatMap(_.times)
    def total(bytes: QueryTimes => Seq[Long]): Double =
      timed.map(times => Sample(bytes(times).map(_.toDouble)).median).sum

    Option.when(total(_.stockBytes) > 0)(total(_.firesteelBytes) / total(_.stockBytes))
  }

  /** The queries that shuffle by keys and by a subset of them. */
  def subsetKeysWithFewer: Seq[String] = withFewerShuffles.filter(TpcdsQueries.subsetKeys.contains)

  /** Timed queries that run fewer shuffles. */
  def withFewerShuffles: Seq[String] = for {
    result <- results if result.times.nonEmpty
    stock <- result.answer.stock
    firesteel <- result.answer.firesteel
    if firesteel.shuffles < stock.shuffles
  } yield result.query

  /** Queries with a right answer that are slower than allowed. */
  def slower: Seq[TpcdsResult] =
    results.filter(_.speedUp.exists(ratio => TpcdsResults.bound.missedBy(ratio.median).nonEmpty))
}

object TpcdsResults {

  /** No query may get more than 5 % slower. */
  val bound: Bound = Target.neverSlower.bound

  /** The target for queries of subset keys with fewer shuffles, in their geometric mean. */
  val subsetKeysFaster: Bound = Bound.AtLeast(1.15)

  /** The largest share of stock's bytes that they may shuffle. */
  val subsetKeysBytes: Bound = Bound.AtMost(0.7)
}
