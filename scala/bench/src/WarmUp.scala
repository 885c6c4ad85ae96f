package io.firesteel.bench

/**
 * Rounds before those that count.
 *
 * A stream that runs for days is compiled once. In runs of seconds, Spark's planning and reading
 * keep the second compiler busy on most of one core for half a minute and more. All contestants get
 * the same rounds.
 */
object WarmUp {

  /** The least time and the least number of runs for every contestant. */
  val seconds: Double = 30.0

  val rounds: Int = 2

  /** For each of many queries in one JVM: what they have in common is compiled by the first ones. */
  val secondsOfSuite: Double = 12.0

  /** Requests rounds by their number, and returns all runs by contestant. */
  def until(round: Int => Seq[(String, Run)], least: Double = seconds): Rounds =
    Iterator
      .iterate(next(Rounds(Map.empty), round(0)))(done => next(done, round(size(done))))
      .find(isEnough(_, least))
      .get

  private def isEnough(done: Rounds, least: Double): Boolean =
    size(done) >= rounds && done.runs.values.forall(_.map(_.seconds).sum >= least)

  private def size(done: Rounds): Int = done.runs.values.map(_.size).max

  private def next(done: Rounds, round: Seq[(String, Run)]): Rounds =
    Rounds(round.foldLeft(done.runs) { case (runs, (name, run)) =>
      runs.updated(name, runs.getOrElse(name, Nil) :+ run)
    })
}
