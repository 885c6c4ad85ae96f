package io.firesteel.bench

/**
 * Rounds before those that count, until nobody gets faster by them any more.
 *
 * A stream that runs for days is compiled once. Runs of seconds are not: for ten rounds and more
 * Spark's planning and reading keep the second compiler busy on most of one of two cores. Everyone
 * gets the same rounds, as many as the last to settle needs.
 */
object WarmUp {

  /** Settled is who is in the last of these not faster than before by [[gain]]. */
  val window: Int = 4

  val gain: Double = 0.05

  /** The end of it all the same, for those that noise keeps finding faster. */
  val most: Int = 16

  /** Asks for rounds by their number, and gives the runs of all of them by contestant. */
  def until(round: Int => Seq[(String, Run)]): Rounds =
    Iterator
      .iterate(next(Rounds(Map.empty), round(0)))(done => next(done, round(size(done))))
      .find(done => settled(done) || size(done) >= most)
      .get

  def settled(done: Rounds): Boolean = done.runs.keys.forall { contestant =>
    val (before, last) = done.seconds(contestant).values.splitAt(size(done) - window)
    before.nonEmpty && last.min >= before.min * (1 - gain)
  }

  private def size(done: Rounds): Int = done.runs.values.map(_.size).max

  private def next(done: Rounds, round: Seq[(String, Run)]): Rounds =
    Rounds(round.foldLeft(done.runs) { case (runs, (name, run)) =>
      runs.updated(name, runs.getOrElse(name, Nil) :+ run)
    })
}
