package io.firesteel.panes

import io.firesteel.core.decide.{Decline, DeclineDoc}

/** Why an aggregate over sliding windows is left to Spark. */
sealed abstract class PanesDecline(
    reason: String,
    override val message: String,
    override val cure: String)
  extends Decline {
  final override def code: String = s"PANES.$reason"
}

object PanesDecline {

  case object Streaming
    extends PanesDecline(
      "STREAMING",
      "a streaming aggregate keeps Spark's plan: rows have few windows, its functions or columns " +
        "need copies, or its checkpoint began so",
      "See spark.firesteel.changelog.panes.minOverlap."
    )

  final case class OtherNode(node: String)
    extends PanesDecline(
      "OTHER_NODE",
      s"$node is between the window and the aggregate and reads the copies of rows: grouping " +
        "sets, several DISTINCTs, a join or a Python function",
      "Compute a join or a Python function in a subquery below the window, and write grouping " +
        "sets as a UNION of queries."
    ) {
    override def values: Map[String, String] = Map("node" -> node)
  }

  final case class UnknownWindow(expression: String)
    extends PanesDecline(
      "UNKNOWN_WINDOW",
      "the copies of a row do not have the bounds that window() gives them",
      "Call window() in the GROUP BY of this aggregate, over a TIMESTAMP or TIMESTAMP_NTZ column."
    ) {
    override def values: Map[String, String] = Map("expression" -> expression)
  }

  final case class OverlapTooSmall(overlap: Double, min: Double)
    extends PanesDecline(
      "OVERLAP_TOO_SMALL",
      s"size / slide = $overlap is below ${PanesConf.MIN_OVERLAP.key} = $min",
      "Lower the setting, if panes are faster for this query."
    ) {
    override def values: Map[String, String] =
      Map("overlap" -> overlap.toString, PanesConf.MIN_OVERLAP.key -> min.toString)
    override def setting: Option[String] = Some(PanesConf.MIN_OVERLAP.key)
  }

  final case class StartMayWrap(start: String)
    extends PanesDecline(
      "START_MAY_WRAP",
      "without ANSI mode, a start other than 0 moves the windows of times near the ends of the " +
        "range of a LONG",
      "Set spark.sql.ansi.enabled to true, or use a start of 0."
    ) {
    override def values: Map[String, String] = Map("start" -> start)
    override def setting: Option[String] = Some("spark.sql.ansi.enabled")
  }

  final case class DistinctAggregate(function: String)
    extends PanesDecline(
      "DISTINCT",
      "the number of distinct values of a window is not the sum of those of its panes",
      "Use approx_count_distinct, if an estimate is enough.") {
    override def values: Map[String, String] = Map("function" -> function)
  }

  final case class NotMergeable(function: String)
    extends PanesDecline(
      "NOT_MERGEABLE",
      s"$function has no partial states that can be merged",
      "Use a built-in aggregate, or write the aggregate in Scala or Java.") {
    override def values: Map[String, String] = Map("function" -> function)
  }

  final case class ReadsWindow(expression: String)
    extends PanesDecline(
      "READS_WINDOW",
      "an aggregate function reads the window column",
      "Compute the expression of the window in the SELECT list, outside of the function.") {
    override def values: Map[String, String] = Map("expression" -> expression)
  }

  final case class FilterBetween(condition: String)
    extends PanesDecline(
      "FILTER_BETWEEN",
      "a filter compares a row with each window that contains it",
      "If the filter keeps a fixed part of each window, ask for windows of that size instead."
    ) {
    override def values: Map[String, String] = Map("condition" -> condition)
  }

  final case class MayFailElsewhere(expression: String, condition: String)
    extends PanesDecline(
      "MAY_FAIL_ELSEWHERE",
      "an expression may fail on rows of windows that the filter removes, and the filter is no " +
        "range of windows",
      "Compare window.start or window.end with constants, or compute the expression in a " +
        "subquery below the window if it fails on no row."
    ) {
    override def values: Map[String, String] =
      Map("expression" -> expression, "condition" -> condition)
  }

  final case class PartOfWindow(expression: String)
    extends PanesDecline(
      "PART_OF_WINDOW",
      "the aggregate is not grouped by the window itself, its start or its end",
      "Add the window, its start or its end to GROUP BY, if the result may have a row for each."
    ) {
    override def values: Map[String, String] = Map("expression" -> expression)
  }

  final case class NonDeterministic(expression: String)
    extends PanesDecline(
      "NON_DETERMINISTIC",
      "an expression changes from one evaluation to the next, and Spark evaluates it once for " +
        "each window of a row",
      "Compute the expression in a table that is written first, or use a deterministic one."
    ) {
    override def values: Map[String, String] = Map("expression" -> expression)
  }

  final case class OneTask(function: String, overlap: Double, cores: Int)
    extends PanesDecline(
      "ONE_TASK",
      "without keys one task merges all windows, and the states of such a function are about as " +
        "large as the rows; a row has fewer windows than tasks can run at a time",
      "Add a key to GROUP BY."
    ) {
    override def values: Map[String, String] = Map(
      "function" -> function,
      "overlap" -> overlap.toString,
      "spark.default.parallelism" -> cores.toString)
  }

  final case class UnsupportedKey(expression: String, dataType: String)
    extends PanesDecline(
      "UNSUPPORTED_KEY",
      s"keys of type $dataType cannot be sorted, or are session windows",
      "Group by a value that can be sorted, such as array_sort(map_entries(m)) for a map m."
    ) {
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
    UnsupportedKey("", "such a type")
  ).map {
    case why: OverlapTooSmall =>
      why.doc.copy(meaning = s"size / slide is below ${PanesConf.MIN_OVERLAP.key}")
    case why => why.doc
  } :+ Decline.switchedOffDoc("panes", PanesConf.ENABLED)
}
