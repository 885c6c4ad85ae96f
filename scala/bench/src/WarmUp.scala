package io.firesteel.bench

/**
 * Rounds before those that count.
 *
 * A stream that runs for days is compiled once. Runs of seconds are not: for half a minute and more
 * Spark's planning and reading keep the second compiler busy on most of one of two cores. Everyone gets
 * the same rounds.
 */
object WarmUp {

  /** How long everyone has run then, and how often at the least. */
  val seconds: Double = 30.0

  val rounds: Int = 2

  /** Asks for rounds by their number, and gives the runs of all of them by contestant. */
  def until(round: Int => Seq[(String, Run)]): Rounds =
    Iterator
      .iterate(next(Rounds(Map.empty), round(0)))(done => next(done, round(size(done))))
      .find(isEnough)
      .get

  private def isEnough(done: Rounds): Boolean =
    size(done) >= rounds && done.runs.values.forall(_.map(_.seconds).sum >= seconds)

  private def size(done: Rounds): Int = done.runs.values.map(_.size).max

  private def next(done: Rounds, round: Seq[(String, Run)]): Rounds =
    Rounds(round.foldLeft(done.runs) { case (runs, (name, run)) =>
      runs.updated(name, runs.getOrElse(name, Nil) :+ run)
    })
}
