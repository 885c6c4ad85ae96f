package io.firesteel.bench

import org.apache.spark.sql.SparkSession

/** Runs queries of TPC-DS: first all of them for their answers, then each in turn for its time. */
final class TpcdsRunner(
    spark: SparkSession,
    settings: Map[String, String],
    firesteelOn: Boolean,
    pairs: Int,
    log: OutcomeLog,
    progress: Progress) {

  private val answers = new TpcdsAnswers(spark)

  private val clock = new TpcdsClock(new Clock(spark, new TaskLog(spark.sparkContext)), pairs)

  def run(queries: Seq[String], timed: Boolean): Seq[TpcdsResult] = {
    val (answered, clocked) = (log.answers, log.times)
    val compared = numbered(queries).map { case (query, place) =>
      answered.getOrElse(query, compare(query, place))
    }
    val right = compared.filter(_.verdict.right).map(_.query)
    val times =
      if (!timed) Map.empty[String, QueryTimes]
      else numbered(right).map { case (query, place) =>
        query -> clocked.getOrElse(query, time(query, place))
      }.toMap
    compared.map(answer => TpcdsResult(answer, times.get(answer.query)))
  }

  private def compare(query: String, place: String): QueryAnswer = {
    val (stock, firesteel) = sides(query)
    val answer = progress.stepWithOutcome(s"$place: answers of $query")(
      answers.compare(query, stock, firesteel)) { answer =>
      val fired = answer.firesteel.fold(Seq.empty[String])(_.fired)
      (answer.verdict.name +: fired).mkString(", ")
    }
    // A failed query runs again in the next run: the machine may have caused the failure.
    if (answer.verdict != Verdict.Failed) log.add(answer)
    if (spark.sparkContext.isStopped) sys.error(s"Spark was stopped: ${answer.detail}")
    answer
  }

  private def time(query: String, place: String): QueryTimes = {
    val (stock, firesteel) = sides(query)
    val times = progress.stepWithOutcome(s"$place: time of $query")(
      clock.time(query, stock, firesteel))(times =>
      f"stock / firesteel ${MarkdownPage.spread(times.speedUp)} in ${times.stockSeconds.size} rounds")
    log.add(times)
    times
  }

  private def sides(query: String): (Contestant, Contestant) = {
    def side(name: String, enabled: Boolean): Contestant = Contestant(
      name,
      TpcdsQueries.sql(query),
      settings + ("spark.firesteel.enabled" -> enabled.toString))

    (
      side(Contestant.stock, enabled = false),
      side(Contestant.firesteel, enabled = firesteelOn))
  }

  private def numbered(queries: Seq[String]): Seq[(String, String)] =
    queries.zipWithIndex.map { case (query, i) => query -> s"${i + 1} of ${queries.size}" }
}
