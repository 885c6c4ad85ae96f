package io.firesteel.skew

import io.firesteel.core.decide.{Decline, DeclineDoc}

/** Why aggregates of one input, joined without a condition, are not computed together. */
sealed abstract class MergeDecline(reason: String, override val message: String) extends Decline {
  final override def code: String = s"SKEW.MERGE_$reason"
}

object MergeDecline {

  final case class Hinted(hint: String)
    extends MergeDecline("HINTED", "a hint says how one of the aggregates is to be computed") {
    override def values: Map[String, String] = Map("hint" -> hint)
  }

  final case class NonDeterministic(expression: String)
    extends MergeDecline(
      "NON_DETERMINISTIC",
      "a filter, an argument or the input changes from one evaluation to the next") {
    override def values: Map[String, String] = Map("expression" -> expression)
  }

  final case class Subquery(expression: String)
    extends MergeDecline("SUBQUERY", "a filter or an argument has a subquery") {
    override def values: Map[String, String] = Map("expression" -> expression)
  }

  final case class PythonFunction(function: String)
    extends MergeDecline(
      "PYTHON_FUNCTION",
      "a function in Python would be called for the rows of all aggregates") {
    override def values: Map[String, String] = Map("function" -> function)
  }

  final case class FilterMayFail(condition: String)
    extends MergeDecline(
      "FILTER_MAY_FAIL",
      "a filter can end in an error on rows on which Spark does not evaluate it") {
    override def values: Map[String, String] = Map("condition" -> condition)
  }

  final case class ColumnsMatter(format: String)
    extends MergeDecline(
      "COLUMNS_MATTER",
      s"which rows of a $format source are read depends on the columns asked for, and the " +
        "aggregates ask for different ones") {
    override def values: Map[String, String] = Map("format" -> format)
  }

  final case class SourceAggregates(table: String)
    extends MergeDecline(
      "SOURCE_AGGREGATES",
      "the source can compute aggregates itself, without handing over rows") {
    override def values: Map[String, String] = Map("table" -> table)
  }

  final case class OtherPartitions(columns: String)
    extends MergeDecline(
      "OTHER_PARTITIONS",
      "filters on its partitions differ, so that together more would be read of them than apart") {
    override def values: Map[String, String] = Map("columns" -> columns)
  }

  final case class OtherColumns(columns: String)
    extends MergeDecline(
      "OTHER_COLUMNS",
      "filters differ, and not all of the aggregates read these columns, of which together more would " +
        "be read than apart") {
    override def values: Map[String, String] = Map("columns" -> columns)
  }

  final case class DistinctColumns(columns: Int)
    extends MergeDecline(
      "DISTINCT_COLUMNS",
      "together they count distinct values of several columns, for which Spark copies every row " +
        "once per column") {
    override def values: Map[String, String] = Map("columns" -> columns.toString)
  }

  /** All but the switch, whose reason is the room's own. */
  val docs: Seq[DeclineDoc] = Seq(
    Hinted("ONE_PHASE or TWO_PHASE"),
    NonDeterministic(""),
    Subquery(""),
    PythonFunction(""),
    FilterMayFail(""),
    ColumnsMatter("CSV, JSON or XML"),
    SourceAggregates(""),
    OtherPartitions(""),
    OtherColumns(""),
    DistinctColumns(2)
  ).map(why => DeclineDoc(why.code, why.message, why.setting))
}
