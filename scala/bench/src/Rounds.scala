package io.firesteel.bench

/**
 * One task of a run: in which stage, how long, and how many rows it read from an exchange.
 *
 * @param counts what it added to accumulators with a name, operators' metrics among them
 */
final case class TaskTime(
    stage: Int,
    seconds: Double,
    shuffledRowsRead: Long,
    counts: Map[String, Long] = Map.empty,
    peakMemoryBytes: Long = 0,
    shuffledBytesWritten: Long = 0)

/** One timed run of a contestant. */
final case class Run(seconds: Double, tasks: Seq[TaskTime]) {

  /**
   * The worst ratio of slowest to mean task in any stage with a tenth or more of the task time. A
   * stage of a few milliseconds says nothing about skew.
   */
  def slowestTask: Double = {
    val all = tasks.map(_.seconds).sum
    val ratios = tasks.groupBy(_.stage).values.map(_.map(_.seconds)).collect {
      case times if times.sum > 0 && times.sum >= all / 10 => times.max * times.size / times.sum
    }
    ratios.maxOption.getOrElse(1.0)
  }

  /** What all tasks together added to an accumulator. */
  def total(count: String): Long = tasks.flatMap(_.counts.get(count)).sum

  /** The most that one task added to an accumulator. */
  def most(count: String): Long = tasks.flatMap(_.counts.get(count)).maxOption.getOrElse(0L)

  def peakMemoryBytes: Long = tasks.map(_.peakMemoryBytes).maxOption.getOrElse(0L)

  /** What all tasks wrote for exchanges, compressed as it is on disk. */
  def shuffledBytes: Long = tasks.map(_.shuffledBytesWritten).sum

  /** The most rows that one task read from an exchange, and the mean; 0 without an exchange. */
  def shuffledRowsPerTask: (Long, Double) = {
    val rows = tasks.filter(_.shuffledRowsRead > 0).map(_.shuffledRowsRead)
    if (rows.isEmpty) (0L, 0.0) else (rows.max, rows.sum.toDouble / rows.size)
  }
}

/** Everything that was timed for one case: per contestant one run a round, in order of rounds. */
final case class Rounds(runs: Map[String, Seq[Run]]) {

  def seconds(contestant: String): Sample = Sample(runs(contestant).map(_.seconds))

  def ratio(over: String, under: String): Sample = Sample.ofRatios(seconds(over), seconds(under))

  def shuffledBytes(contestant: String): Sample =
    Sample(runs(contestant).map(_.shuffledBytes.toDouble))

  def slowestTask(contestant: String): Sample = Sample(runs(contestant).map(_.slowestTask))
}

object Rounds {

  /** A B C, then C B A: what a place in the order does to the clock falls on everyone in turn. */
  def order[A](contestants: Seq[A], round: Int): Seq[A] =
    if (round % 2 == 0) contestants else contestants.reverse
}
