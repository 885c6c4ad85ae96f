package io.firesteel.skew

import io.firesteel.core.decide.{Decline, DeclineDoc}

/** Why aggregates of one input, joined without a condition, are not computed in one pass. */
sealed abstract class MergeDecline(
    reason: String,
    override val message: String,
    override val cure: String = "")
  extends Decline {
  final override def code: String = s"SKEW.MERGE_$reason"
}

object MergeDecline {

  final case class Hinted(hint: String)
    extends MergeDecline(
      "HINTED",
      "one of the aggregates has a hint of its own",
      "Remove the hint.") {
    override def values: Map[String, String] = Map("hint" -> hint)
  }

  final case class NonDeterministic(expression: String)
    extends MergeDecline(
      "NON_DETERMINISTIC",
      "a filter, an argument or the input changes from one evaluation to the next",
      "Write the values that change to a table first, and read that table."
    ) {
    override def values: Map[String, String] = Map("expression" -> expression)
  }

  final case class Subquery(expression: String)
    extends MergeDecline(
      "SUBQUERY",
      "a filter or an argument has a subquery",
      "Run the subquery first, and write its value into the query.") {
    override def values: Map[String, String] = Map("expression" -> expression)
  }

  final case class PythonFunction(function: String)
    extends MergeDecline(
      "PYTHON_FUNCTION",
      "a Python function would be called for the rows of all aggregates",
      "Use a SQL function, or write the function's result to a table first."
    ) {
    override def values: Map[String, String] = Map("function" -> function)
  }

  final case class FilterMayFail(condition: String)
    extends MergeDecline(
      "FILTER_MAY_FAIL",
      "a filter could fail on rows on which Spark does not evaluate it",
      "Use `try_cast` instead of a cast, or write the computed value to a column of the table."
    ) {
    override def values: Map[String, String] = Map("condition" -> condition)
  }

  final case class ColumnsMatter(format: String)
    extends MergeDecline(
      "COLUMNS_MATTER",
      s"the rows that Spark reads from $format depend on the columns, and the aggregates read " +
        "different columns",
      "Convert the files to Parquet."
    ) {
    override def values: Map[String, String] = Map("format" -> format)
  }

  final case class SourceAggregates(table: String)
    extends MergeDecline(
      "SOURCE_AGGREGATES",
      "the source can compute the aggregates itself, without returning its rows") {
    override def values: Map[String, String] = Map("table" -> table)
  }

  final case class SumOrder(sum: String)
    extends MergeDecline(
      "SUM_ORDER",
      "Spark would compute two sums, products, GREATEST or LEAST in another order as one, which may be " +
        "another value",
      "Write them in one order. For sums and products, `spark.sql.ansi.enabled` is another way."
    ) {
    override def values: Map[String, String] = Map("sum" -> sum)
  }

  final case class OtherPartitions(columns: String)
    extends MergeDecline(
      "OTHER_PARTITIONS",
      "filters on the partition columns differ: one pass would read more partitions than " +
        "separate aggregates") {
    override def values: Map[String, String] = Map("columns" -> columns)
  }

  final case class OtherColumns(columns: String)
    extends MergeDecline(
      "OTHER_COLUMNS",
      "filters differ, and only some of the aggregates read these columns: one pass would read " +
        "more of them than separate aggregates") {
    override def values: Map[String, String] = Map("columns" -> columns)
  }

  final case class DistinctColumns(columns: Int)
    extends MergeDecline(
      "DISTINCT_COLUMNS",
      "together they have DISTINCT values of several columns, for which Spark copies every row " +
        "once for each column",
      "Explain one aggregate with all of these `DISTINCT`s to see why they need copies, and " +
        "remove that reason."
    ) {
    override def values: Map[String, String] = Map("columns" -> columns.toString)
  }

  /** All except the switch, whose reason is the room's own. */
  val docs: Seq[DeclineDoc] = Seq(
    Hinted("ONE_PHASE or TWO_PHASE"),
    NonDeterministic(""),
    Subquery(""),
    PythonFunction(""),
    FilterMayFail(""),
    ColumnsMatter("CSV, JSON or XML"),
    SourceAggregates(""),
    SumOrder(""),
    OtherPartitions(""),
    OtherColumns(""),
    DistinctColumns(2)
  ).map(_.doc)
}
