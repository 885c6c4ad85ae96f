package io.firesteel.bench

/**
 * A query of TPC-H over streams.
 *
 * @param flink the error with which Flink refused the query, or how it ran
 * @param rows rows of the result in the end
 */
final case class TpchResult(
    query: String,
    rows: Long,
    batches: Int,
    rounds: Rounds,
    flink: Either[String, String],
    operators: Seq[String]) {

  /** How many times faster than Flink; none if Flink did not run it. */
  def speedUp: Option[Sample] =
    flink.toOption.map(_ => rounds.ratio(StreamingContestant.flink, StreamingContestant.firesteel))
}

final case class TpchResults(environment: Environment, scale: Double, results: Seq[TpchResult]) {

  /** Of the queries that both run; none if there is none. */
  def geometricMean: Option[Double] = {
    val logs = results.flatMap(_.speedUp).map(its => math.log(its.median))
    Option.when(logs.nonEmpty)(math.exp(logs.sum / logs.size))
  }
}
