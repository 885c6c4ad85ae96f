package io.firesteel.bench

import org.apache.spark.sql.SparkSession

/** Where a case of the lookup room runs. */
sealed trait Place

object Place {

  /** Two cores in the benchmark's own JVM. */
  case object Local extends Place

  /** Four executors of one core, each a process with a cache of its own. */
  case object Cluster extends Place

  /** A script in Python, which has written down its runs. */
  case object Python extends Place
}

/**
 * One question to the clock: the same rows, come by in several ways.
 *
 * @param note what a reader needs to know to read the figures
 * @param rows of the stream that is enriched
 * @param prepare makes the views that the queries read
 * @param contestants those that run in turn
 * @param once those that run once, because counts are asked of them and not times
 * @param versus two contestants; the picture shows how many times longer the first one takes
 */
final case class LookupCase(
    name: String,
    title: String,
    note: String,
    rows: Long,
    place: Place,
    contestants: Seq[Contestant],
    targets: Seq[Target],
    versus: Option[(String, String)],
    once: Seq[Contestant] = Nil,
    tables: Seq[Table] = Nil,
    prepare: SparkSession => Unit = _ => (),
    warmUps: Int = 1)

/** What came of a case; all answers were equal, or there is none. */
final case class LookupResult(question: LookupCase, rounds: Rounds) {

  def judged: Seq[(Target, Sample)] =
    question.targets.map(target => target -> target.measure.of(rounds))

  def speedUp: Option[(String, Sample)] = question.versus.map { case (over, under) =>
    s"$over / $under" -> rounds.ratio(over, under)
  }

  /** Contestants in the order of the case, with their runs. */
  def byContestant: Seq[(String, Seq[Run])] =
    (question.contestants ++ question.once).map(one => one.name -> rounds.runs(one.name))
}
