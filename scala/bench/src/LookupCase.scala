package io.firesteel.bench

import org.apache.spark.sql.SparkSession

/** The place in which a case of the lookup room runs. */
sealed trait Place

object Place {

  /** Two cores in the benchmark's JVM. */
  case object Local extends Place

  /** Four executors of one core, each a process with a cache of its own. */
  case object Cluster extends Place

  /** A script in Python, which has recorded its runs. */
  case object Python extends Place
}

/**
 * One timed task: the same rows, computed in several ways.
 *
 * @param note facts that a reader of the figures needs
 * @param rows rows of the stream that is enriched
 * @param prepare makes the views that the queries read
 * @param contestants run in turn
 * @param once run once, because they are counted and not timed
 * @param versus two contestants; the picture shows the first one's time as a multiple
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

/** The result of a case. It exists only if all answers were equal. */
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
