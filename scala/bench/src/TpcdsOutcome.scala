package io.firesteel.bench

/**
 * How one side came to its answer.
 *
 * @param shuffles exchanges by which the plan that ran, adapted as it was, moved rows
 * @param fired rules, once for each operator of theirs in that plan
 * @param declined codes of the reasons
 */
final case class SideOutcome(
    rows: Long,
    shuffles: Int,
    rowsShuffled: Long,
    fired: Seq[String],
    declined: Seq[String])

/** Whether firesteel's answer is right, that is, what stock's is. */
sealed abstract class Verdict(val name: String, val right: Boolean)

object Verdict {

  case object Equal extends Verdict("equal", right = true)

  /** `ORDER BY … LIMIT` leaves open which rows of those that tie come last. */
  case object EqualButForTies extends Verdict("equal but for ties", right = true)

  case object Different extends Verdict("different", right = false)

  case object Failed extends Verdict("failed", right = false)

  val all: Seq[Verdict] = Seq(Equal, EqualButForTies, Different, Failed)
}

/** @param detail some of the rows that differ, or the error */
final case class QueryAnswer(
    query: String,
    verdict: Verdict,
    detail: String,
    stock: Option[SideOutcome],
    firesteel: Option[SideOutcome])

/**
 * The clock's part; a value per round everywhere.
 *
 * @param firstLook the ratio stock / firesteel that made the query look slower, when it was then
 *   asked again; the rounds of the first look do not count then, as they were picked for being slow
 */
final case class QueryTimes(
    query: String,
    stockSeconds: Seq[Double],
    firesteelSeconds: Seq[Double],
    stockBytes: Seq[Long],
    firesteelBytes: Seq[Long],
    firstLook: Option[Double]) {

  def speedUp: Sample = Sample.ofRatios(Sample(stockSeconds), Sample(firesteelSeconds))

  /** These rounds and then those. */
  def ++(later: QueryTimes): QueryTimes = copy(
    stockSeconds = stockSeconds ++ later.stockSeconds,
    firesteelSeconds = firesteelSeconds ++ later.firesteelSeconds,
    stockBytes = stockBytes ++ later.stockBytes,
    firesteelBytes = firesteelBytes ++ later.firesteelBytes
  )
}

/** All that is known of one query; a run may end before the clock has had its turn. */
final case class TpcdsResult(answer: QueryAnswer, times: Option[QueryTimes]) {

  def query: String = answer.query

  def speedUp: Option[Sample] = times.map(_.speedUp)
}

/**
 * Everything that the page shows.
 *
 * @param means names and queries of the geometric means asked for
 */
final case class TpcdsResults(
    environment: Environment,
    scale: Double,
    settings: Map[String, String],
    noise: Boolean,
    results: Seq[TpcdsResult],
    means: Seq[(String, Seq[String])]) {

  def fileName: String = if (noise) s"${TpcdsMain.suite}-noise" else TpcdsMain.suite

  /** Of those queries that have been timed. */
  def geometricMean(queries: Seq[String]): Option[Double] = {
    val ratios = results.filter(r => queries.contains(r.query)).flatMap(_.speedUp).map(_.median)
    Option.when(ratios.nonEmpty)(math.exp(ratios.map(math.log).sum / ratios.size))
  }

  /** Of all bytes that stock shuffles in these queries, the share that firesteel shuffles. */
  def shareOfBytes(queries: Seq[String]): Option[Double] = {
    val timed = results.filter(r => queries.contains(r.query)).flatMap(_.times)
    def total(bytes: QueryTimes => Seq[Long]): Double =
      timed.map(times => Sample(bytes(times).map(_.toDouble)).median).sum

    Option.when(total(_.stockBytes) > 0)(total(_.firesteelBytes) / total(_.stockBytes))
  }

  /** Those by keys and by a subset of them. */
  def subsetKeysWithFewer: Seq[String] = withFewerShuffles.filter(TpcdsQueries.subsetKeys.contains)

  /** Queries that have been timed and run fewer shuffles. */
  def withFewerShuffles: Seq[String] = for {
    result <- results if result.times.nonEmpty
    stock <- result.answer.stock
    firesteel <- result.answer.firesteel
    if firesteel.shuffles < stock.shuffles
  } yield result.query

  /** Those with a right answer that are slower than the rule of the house allows. */
  def slower: Seq[TpcdsResult] =
    results.filter(_.speedUp.exists(ratio => TpcdsResults.bound.missedBy(ratio.median).nonEmpty))
}

object TpcdsResults {

  /** The rule of the house: nothing gets more than 5 % slower. */
  val bound: Bound = Target.neverSlower.bound

  /** What a shuffle fewer has to give to the queries of subset keys, in their geometric mean. */
  val subsetKeysFaster: Bound = Bound.AtLeast(1.15)

  /** The share of the bytes that they may still shuffle. */
  val subsetKeysBytes: Bound = Bound.AtMost(0.7)
}
