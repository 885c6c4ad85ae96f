package io.firesteel.rank

import io.firesteel.core.decide.{Decline, DeclineDoc}

/** Why a filtered rank function is left to Spark. */
sealed abstract class RankDecline(reason: String, override val message: String) extends Decline {
  final override def code: String = s"RANK.$reason"
}

object RankDecline {

  final case class NoUpperBound(condition: String)
    extends RankDecline(
      "NO_UPPER_BOUND",
      "the filter sets no constant upper bound on a rank column in every row it keeps") {
    override def values: Map[String, String] = Map("condition" -> condition)
  }

  final case class LimitTooLarge(limit: Int, max: Int)
    extends RankDecline("LIMIT_TOO_LARGE", s"n = $limit exceeds ${RankConf.MAX_LIMIT.key} = $max") {
    override def values: Map[String, String] =
      Map("n" -> limit.toString, RankConf.MAX_LIMIT.key -> max.toString)
    override def setting: Option[String] = Some(RankConf.MAX_LIMIT.key)
  }

  final case class OtherFunction(function: String)
    extends RankDecline(
      "OTHER_FUNCTION",
      s"$function shares the window, and is not computed by this room: most functions need every row") {
    override def values: Map[String, String] = Map("function" -> function)
  }

  case object ProjectionBetween
    extends RankDecline(
      "PROJECTION_BETWEEN",
      "between the window and its filter stands a projection that Spark does not move, such as " +
        "one that calls rand()")

  case object NoOrder
    extends RankDecline(
      "NO_ORDER",
      "the window has neither keys nor an order")

  final case class OtherWindowAbove(function: String)
    extends RankDecline(
      "OTHER_WINDOW_ABOVE",
      s"$function, evaluated between the rank function and its filter, needs every row") {
    override def values: Map[String, String] = Map("function" -> function)
  }

  final case class SeveralWindows(condition: String)
    extends RankDecline(
      "SEVERAL_WINDOWS",
      "the filter joins rank columns of different windows by OR: a row kept by one of them needs " +
        "its place in the other, which only a sort of every row gives"
    ) {
    override def values: Map[String, String] = Map("condition" -> condition)
  }

  case object SparkTakesOrdered
    extends RankDecline(
      "SPARK_TAKES_ORDERED",
      "without PARTITION BY, Spark itself turns ROW_NUMBER into a limit over a sort, which " +
        "already holds only n rows per task")

  final case class NonDeterministic(expression: String)
    extends RankDecline(
      "NON_DETERMINISTIC",
      "a key or an order key changes from one evaluation to the next") {
    override def values: Map[String, String] = Map("expression" -> expression)
  }

  final case class UnsupportedKey(expression: String, dataType: String)
    extends RankDecline(
      "UNSUPPORTED_KEY",
      s"equality of $dataType keys is not equality of their bytes") {
    override def values: Map[String, String] =
      Map("expression" -> expression, "type" -> dataType)
  }

  case object WindowHinted
    extends RankDecline("WINDOW_HINT", "a hint of another extension asks for the window as it is")

  val docs: Seq[DeclineDoc] = Seq(
    NoUpperBound(""),
    LimitTooLarge(2, 1),
    OtherFunction("another window function"),
    ProjectionBetween,
    NoOrder,
    OtherWindowAbove("another window function"),
    SeveralWindows(""),
    SparkTakesOrdered,
    NonDeterministic(""),
    UnsupportedKey("", "such"),
    WindowHinted,
    Decline.SwitchedOff("rank", RankConf.ENABLED.key)
  ).map {
    case LimitTooLarge(_, _) =>
      DeclineDoc(
        "RANK.LIMIT_TOO_LARGE",
        s"n exceeds ${RankConf.MAX_LIMIT.key}",
        Some(RankConf.MAX_LIMIT.key))
    case why => DeclineDoc(why.code, why.message, why.setting)
  }
}
