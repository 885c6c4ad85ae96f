package io.firesteel.bench

/** The measure that judges a case: a ratio of two values of the same rounds. */
trait Measure {
  def label: String
  def of(rounds: Rounds): Sample
}

object Measure {

  /** The time of stock as a multiple of firesteel's. */
  case object SpeedUp extends Measure {
    override def label: String = "stock / firesteel"
    override def of(rounds: Rounds): Sample = rounds.ratio(Contestant.stock, Contestant.firesteel)
  }

  /** The time of the query as a multiple of a cheap reference's: a scan, another query. */
  final case class TimesOf(reference: String) extends Measure {
    override def label: String = s"firesteel / $reference"
    override def of(rounds: Rounds): Sample = rounds.ratio(Contestant.firesteel, reference)
  }

  /** The time of another contestant as a multiple of firesteel's. */
  final case class FasterThan(reference: String) extends Measure {
    override def label: String = s"$reference / firesteel"
    override def of(rounds: Rounds): Sample = rounds.ratio(reference, Contestant.firesteel)
  }

  /** The bytes of stock's exchanges as a multiple of firesteel's. */
  case object FewerBytes extends Measure {
    override def label: String = "shuffled bytes, stock / firesteel"

    override def of(rounds: Rounds): Sample = Sample.ofRatios(
      rounds.shuffledBytes(Contestant.stock),
      Sample(rounds.shuffledBytes(Contestant.firesteel).values.map(math.max(_, 1.0))))
  }

  /** The slowest task as a multiple of its stage's mean, in the stages with most of the time. */
  case object SlowestTask extends Measure {
    override def label: String = "slowest task / mean"
    override def of(rounds: Rounds): Sample = rounds.slowestTask(Contestant.firesteel)
  }
}

sealed trait Bound {
  def value: Double
  def label: String

  /** The share of the bound by which `measured` misses it; `None` if it is met. */
  def missedBy(measured: Double): Option[Double]
}

object Bound {

  final case class AtLeast(value: Double) extends Bound {
    override def label: String = s">= $value"
    override def missedBy(measured: Double): Option[Double] =
      Option.when(measured < value)(1 - measured / value)
  }

  final case class AtMost(value: Double) extends Bound {
    override def label: String = s"<= $value"
    override def missedBy(measured: Double): Option[Double] =
      Option.when(measured > value)(measured / value - 1)
  }
}

/** A target of a case. */
final case class Target(measure: Measure, bound: Bound) {

  def label: String = s"${measure.label} ${bound.label}"

  /** In words. The median is judged. */
  def verdict(measured: Sample): String =
    bound.missedBy(measured.median).fold("met")(by => f"missed by ${by * 100}%.1f %%")
}

object Target {

  def timesFaster(times: Double): Target = Target(Measure.SpeedUp, Bound.AtLeast(times))

  /** No query may get more than 5 % slower. */
  val neverSlower: Target = timesFaster(0.95)

  def atMostTimes(times: Double, reference: String): Target =
    Target(Measure.TimesOf(reference), Bound.AtMost(times))

  def timesFasterThan(times: Double, reference: String): Target =
    Target(Measure.FasterThan(reference), Bound.AtLeast(times))

  def fewerBytes(times: Double): Target = Target(Measure.FewerBytes, Bound.AtLeast(times))

  def slowestTaskAtMost(times: Double): Target = Target(Measure.SlowestTask, Bound.AtMost(times))
}
