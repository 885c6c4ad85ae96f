package io.firesteel.bench

/**
 * The ratio of two times of the same rounds.
 *
 * @param part the name of the part that measured it
 * @param over what is judged, by its name in the rounds
 * @param under what it is compared with
 */
final case class Figure(
    part: String,
    title: String,
    provider: String,
    over: String,
    under: String,
    rounds: Rounds,
    bound: Bound) {

  def ratio: Sample = rounds.ratio(over, under)

  def isMet: Boolean = bound.missedBy(ratio.median).isEmpty
}

/** The results of one call of a suite. */
final case class FigureResults(environment: Environment, figures: Seq[Figure])

object FigureResults {

  /** Both state store providers, by the names that pages give them. */
  val providers: Seq[(String, Map[String, String])] =
    Seq("in memory" -> StreamingSettings.inMemory, "RocksDB" -> StreamingSettings.rocksDb)

  /** A time that another clock has measured. */
  def run(seconds: Double): Run = Run(seconds, Nil)

  /** One round's times, by the names of what was timed. */
  def rounds(all: Seq[(String, Double)]): Rounds =
    Rounds(all.groupMap(_._1)(timed => run(timed._2)))
}
