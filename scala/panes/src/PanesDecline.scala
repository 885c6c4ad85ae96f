package io.firesteel.panes

import io.firesteel.core.decide.{Decline, DeclineDoc}

/** Why an aggregate over sliding windows is left to Spark. */
sealed abstract class PanesDecline(reason: String, override val message: String) extends Decline {
  final override def code: String = s"PANES.$reason"
}

object PanesDecline {

  case object Streaming
    extends PanesDecline("STREAMING", "a streaming aggregate keeps Spark's plan")

  final case class OtherNode(node: String)
    extends PanesDecline(
      "OTHER_NODE",
      s"$node stands between the aggregate and the window and reads rows that are copied already: " +
        "grouping sets, several DISTINCTs, a join or a Python function"
    ) {
    override def values: Map[String, String] = Map("node" -> node)
  }

  final case class UnknownWindow(expression: String)
    extends PanesDecline(
      "UNKNOWN_WINDOW",
      "the copies of a row do not have the bounds that window() gives them") {
    override def values: Map[String, String] = Map("expression" -> expression)
  }

  final case class OverlapTooSmall(overlap: Double, min: Double)
    extends PanesDecline(
      "OVERLAP_TOO_SMALL",
      s"size / slide = $overlap is below ${PanesConf.MIN_OVERLAP.key} = $min") {
    override def values: Map[String, String] =
      Map("overlap" -> overlap.toString, PanesConf.MIN_OVERLAP.key -> min.toString)
    override def setting: Option[String] = Some(PanesConf.MIN_OVERLAP.key)
  }

  final case class StartMayWrap(start: String)
    extends PanesDecline(
      "START_MAY_WRAP",
      "without ANSI mode, a start other than 0 moves the windows of times near the ends of the " +
        "range of a LONG") {
    override def values: Map[String, String] = Map("start" -> start)
    override def setting: Option[String] = Some("spark.sql.ansi.enabled")
  }

  final case class DistinctAggregate(function: String)
    extends PanesDecline(
      "DISTINCT",
      "the distinct values of a window are not those of its panes put together") {
    override def values: Map[String, String] = Map("function" -> function)
  }

  final case class NotMergeable(function: String)
    extends PanesDecline("NOT_MERGEABLE", s"$function has no partial states that can be merged") {
    override def values: Map[String, String] = Map("function" -> function)
  }

  final case class ReadsWindow(expression: String)
    extends PanesDecline("READS_WINDOW", "an aggregate function reads the window column") {
    override def values: Map[String, String] = Map("expression" -> expression)
  }

  final case class FilterBetween(condition: String)
    extends PanesDecline(
      "FILTER_BETWEEN",
      "a filter compares a row with each window that it belongs to") {
    override def values: Map[String, String] = Map("condition" -> condition)
  }

  final case class MayFailElsewhere(expression: String, condition: String)
    extends PanesDecline(
      "MAY_FAIL_ELSEWHERE",
      "an expression may fail on rows of windows that a filter takes away, unless these are a range"
    ) {
    override def values: Map[String, String] =
      Map("expression" -> expression, "condition" -> condition)
  }

  final case class PartOfWindow(expression: String)
    extends PanesDecline(
      "PART_OF_WINDOW",
      "the aggregate is not grouped by the window itself, its start or its end") {
    override def values: Map[String, String] = Map("expression" -> expression)
  }

  final case class NonDeterministic(expression: String)
    extends PanesDecline(
      "NON_DETERMINISTIC",
      "an expression changes from one evaluation to the next, and Spark evaluates it once for " +
        "each window of a row") {
    override def values: Map[String, String] = Map("expression" -> expression)
  }

  final case class OneTask(function: String, overlap: Double, cores: Int)
    extends PanesDecline(
      "ONE_TASK",
      "without keys all windows are built in one task, and the panes of such a function are about as large " +
        "as the rows; Spark's copies are fewer than the tasks that can work on them"
    ) {
    override def values: Map[String, String] = Map(
      "function" -> function,
      "overlap" -> overlap.toString,
      "spark.default.parallelism" -> cores.toString)
  }

  final case class UnsupportedKey(expression: String, dataType: String)
    extends PanesDecline("UNSUPPORTED_KEY", s"keys of type $dataType cannot be sorted") {
    override def values: Map[String, String] =
      Map("expression" -> expression, "type" -> dataType)
  }

  val docs: Seq[DeclineDoc] = Seq(
    Streaming,
    OtherNode("another operator"),
    UnknownWindow(""),
    OverlapTooSmall(1, 2),
    StartMayWrap(""),
    DistinctAggregate(""),
    NotMergeable("an aggregate function"),
    ReadsWindow(""),
    FilterBetween(""),
    MayFailElsewhere("", ""),
    PartOfWindow(""),
    NonDeterministic(""),
    OneTask("", 2, 4),
    UnsupportedKey("", "such a type"),
    Decline.SwitchedOff("panes", PanesConf.ENABLED.key)
  ).map {
    case OverlapTooSmall(_, _) =>
      DeclineDoc(
        "PANES.OVERLAP_TOO_SMALL",
        s"size / slide is below ${PanesConf.MIN_OVERLAP.key}",
        Some(PanesConf.MIN_OVERLAP.key))
    case why => DeclineDoc(why.code, why.message, why.setting)
  }
}
