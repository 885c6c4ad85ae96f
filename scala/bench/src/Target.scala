package io.firesteel.bench

/** What a case is judged by: a ratio of two things measured in the same rounds. */
trait Measure {
  def label: String
  def of(rounds: Rounds): Sample
}

object Measure {

  /** How many times faster than stock. */
  case object SpeedUp extends Measure {
    override def label: String = "stock / firesteel"
    override def of(rounds: Rounds): Sample = rounds.ratio(Contestant.stock, Contestant.firesteel)
  }

  /** The whole query beside something that is known to be cheap: a scan, another query. */
  final case class TimesOf(reference: String) extends Measure {
    override def label: String = s"firesteel / $reference"
    override def of(rounds: Rounds): Sample = rounds.ratio(Contestant.firesteel, reference)
  }

  /** How many times faster than something that is not stock as the case tunes it. */
  final case class FasterThan(reference: String) extends Measure {
    override def label: String = s"$reference / firesteel"
    override def of(rounds: Rounds): Sample = rounds.ratio(reference, Contestant.firesteel)
  }

  /** How many times fewer bytes than stock go through exchanges. */
  case object FewerBytes extends Measure {
    override def label: String = "shuffled bytes, stock / firesteel"

    override def of(rounds: Rounds): Sample = Sample.ofRatios(
      rounds.shuffledBytes(Contestant.stock),
      Sample(rounds.shuffledBytes(Contestant.firesteel).values.map(math.max(_, 1.0))))
  }

  /** The slowest task beside the mean of its stage, in the stages where the time goes. */
  case object SlowestTask extends Measure {
    override def label: String = "slowest task / mean"
    override def of(rounds: Rounds): Sample = rounds.slowestTask(Contestant.firesteel)
  }
}

sealed trait Bound {
  def value: Double
  def label: String

  /** By which share of the bound `measured` misses it; `None` when it is met. */
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

/** A promise about a case. */
final case class Target(measure: Measure, bound: Bound) {

  def label: String = s"${measure.label} ${bound.label}"

  /** In words; the median is what is judged. */
  def verdict(measured: Sample): String =
    bound.missedBy(measured.median).fold("met")(by => f"missed by ${by * 100}%.1f %%")
}

object Target {

  def timesFaster(times: Double): Target = Target(Measure.SpeedUp, Bound.AtLeast(times))

  /** The rule of the house: nothing gets more than 5 % slower. */
  val neverSlower: Target = timesFaster(0.95)

  def atMostTimes(times: Double, reference: String): Target =
    Target(Measure.TimesOf(reference), Bound.AtMost(times))

  def timesFasterThan(times: Double, reference: String): Target =
    Target(Measure.FasterThan(reference), Bound.AtLeast(times))

  def fewerBytes(times: Double): Target = Target(Measure.FewerBytes, Bound.AtLeast(times))

  def slowestTaskAtMost(times: Double): Target = Target(Measure.SlowestTask, Bound.AtMost(times))
}
