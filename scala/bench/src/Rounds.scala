package io.firesteel.bench

/**
 * One task of a run: its stage, its time, and the rows that it read from an exchange.
 *
 * @param counts its additions to named accumulators, such as operators' metrics
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
   * The worst ratio of the slowest to the mean task, in stages with at least a tenth of the task
   * time. A stage of a few milliseconds says nothing about skew.
   */
  def slowestTask: Double = {
    val all = tasks.map(_.seconds).sum
    val ratios = tasks.groupBy(_.stage).values.map(_.map(_.seconds)).collect {
      case times if times.sum > 0 && times.sum >= all / 10 => times.max * times.size / times.sum
    }
    ratios.maxOption.getOrElse(1.0)
  }

  /** The sum over all tasks of an accumulator. */
  def total(count: String): Long = tasks.flatMap(_.counts.get(count)).sum

  /** The largest addition of one task to an accumulator. */
  def most(count: String): Long = tasks.flatMap(_.counts.get(count)).maxOption.getOrElse(0L)

  def peakMemoryBytes: Long = tasks.map(_.peakMemoryBytes).maxOption.getOrElse(0L)

  /** Bytes that all tasks wrote for exchanges, compressed as on disk. */
  def shuffledBytes: Long = tasks.map(_.shuffledBytesWritten).sum

  /** The most rows that one task read from an exchange, and the mean; 0 without an exchange. */
  def shuffledRowsPerTask: (Long, Double) = {
    val rows = tasks.filter(_.shuffledRowsRead > 0).map(_.shuffledRowsRead)
    if (rows.isEmpty) (0L, 0.0) else (rows.max, rows.sum.toDouble / rows.size)
  }
}

/** All timed runs of one case: for each contestant one run a round, in order of rounds. */
final case class Rounds(runs: Map[String, Seq[Run]]) {

  def seconds(contestant: String): Sample = Sample(runs(contestant).map(_.seconds))

  def ratio(over: String, under: String): Sample = Sample.ofRatios(seconds(over), seconds(under))

  def shuffledBytes(contestant: String): Sample =
    Sample(runs(contestant).map(_.shuffledBytes.toDouble))

  def slowestTask(contestant: String): Sample = Sample(runs(contestant).map(_.slowestTask))
}

object Rounds {

  /** Runs of contestants, each once a round, told as they end. */
  def inTurn(progress: Progress, title: String, pairs: Int)(
      contestants: (String, () => Run)*): Rounds = {
    val runs = (0 until pairs).flatMap { i =>
      progress.stepWithOutcome(s"$title: round ${i + 1}") {
        order(contestants, i).map { case (name, time) => name -> time() }
      }(_.map { case (name, run) => f"$name ${run.seconds}%.2f s" }.mkString("(", ", ", ")"))
    }
    Rounds(runs.groupMap(_._1)(_._2))
  }

  /** A B C, then C B A, so each place in the order affects every contestant equally. */
  def order[A](contestants: Seq[A], round: Int): Seq[A] =
    if (round % 2 == 0) contestants else contestants.reverse
}
