package io.firesteel.bench

/**
 * A query of a suite. It exists only if the answers were equal.
 *
 * @param mode firesteel's output mode
 * @param rows rows of the result in the end
 * @param operators firesteel's stateful operators, from the sink down
 * @param flink the error with which Flink refused the query, or its text of its plan
 */
final case class SuiteResult(
    query: String,
    mode: String,
    rows: Long,
    batches: Int,
    rounds: Rounds,
    operators: Seq[String],
    flink: Either[String, String]) {

  /** How many times faster than Flink; none if Flink did not run it. */
  def speedUp: Option[Sample] =
    flink.toOption.map(_ => rounds.ratio(StreamingContestant.flink, StreamingContestant.firesteel))
}

/** @param size of the tables, in words */
final case class SuiteResults(
    suite: String,
    size: String,
    environment: Environment,
    results: Seq[SuiteResult])

object SuiteResults {

  /** Of the queries that both run; none if there is none. */
  def geometricMean(results: Seq[SuiteResult]): Option[Double] = {
    val logs = results.flatMap(_.speedUp).map(its => math.log(its.median))
    Option.when(logs.nonEmpty)(math.exp(logs.sum / logs.size))
  }
}
