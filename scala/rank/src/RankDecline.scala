package io.firesteel.rank

import io.firesteel.core.decide.{Decline, DeclineDoc}

/** Why a filtered rank function is left to Spark. */
sealed abstract class RankDecline(
    reason: String,
    override val message: String,
    override val cure: String)
  extends Decline {
  final override def code: String = s"RANK.$reason"
}

object RankDecline {

  final case class NoUpperBound(condition: String)
    extends RankDecline(
      "NO_UPPER_BOUND",
      "the filter does not bound a rank column from above by a constant in every row it keeps",
      "Add a constant upper bound to the filter, such as `rn <= 100`, if the query allows one."
    ) {
    override def values: Map[String, String] = Map("condition" -> condition)
  }

  final case class LimitTooLarge(limit: Int, max: Int)
    extends RankDecline(
      "LIMIT_TOO_LARGE",
      s"n = $limit exceeds ${RankConf.MAX_LIMIT.key} = $max",
      "Raise the setting if a task has memory for n rows of each of its keys.") {
    override def values: Map[String, String] =
      Map("n" -> limit.toString, RankConf.MAX_LIMIT.key -> max.toString)
    override def setting: Option[String] = Some(RankConf.MAX_LIMIT.key)
  }

  final case class OtherFunction(function: String)
    extends RankDecline(
      "OTHER_FUNCTION",
      s"$function is computed over the same window, and most functions need every row",
      "If the other function may read the filtered rows alone, filter by the rank in a subquery " +
        "and compute the function outside of it."
    ) {
    override def values: Map[String, String] = Map("function" -> function)
  }

  case object ProjectionBetween
    extends RankDecline(
      "PROJECTION_BETWEEN",
      "a projection that Spark does not move, such as one with rand(), is between the window and " +
        "its filter",
      "Compute the non-deterministic columns above the filter."
    )

  case object NoOrder
    extends RankDecline(
      "NO_ORDER",
      "the window has neither PARTITION BY nor ORDER BY",
      "Use LIMIT n, or add ORDER BY to the window.")

  final case class OtherWindowAbove(function: String)
    extends RankDecline(
      "OTHER_WINDOW_ABOVE",
      s"$function, computed between the rank function and its filter, needs every row",
      "If the other function may read the filtered rows alone, filter by the rank in a subquery " +
        "and compute the function outside of it."
    ) {
    override def values: Map[String, String] = Map("function" -> function)
  }

  final case class SeveralWindows(condition: String)
    extends RankDecline(
      "SEVERAL_WINDOWS",
      "the filter joins ranks of different windows by OR: a row kept for one rank needs its rank " +
        "in the other window, which only a sort of every row gives",
      "If one rank per row is enough, filter by each rank in its own query, and combine them by " +
        "UNION."
    ) {
    override def values: Map[String, String] = Map("condition" -> condition)
  }

  case object SparkTakesOrdered
    extends RankDecline(
      "SPARK_TAKES_ORDERED",
      "without PARTITION BY, Spark itself turns ROW_NUMBER into a limit over a sort, which holds " +
        "only n rows per task",
      "")

  final case class NonDeterministic(expression: String)
    extends RankDecline(
      "NON_DETERMINISTIC",
      "a key or an order key changes from one evaluation to the next",
      "Write the key to a table first, or use a deterministic expression."
    ) {
    override def values: Map[String, String] = Map("expression" -> expression)
  }

  final case class UnsupportedKey(expression: String, dataType: String)
    extends RankDecline(
      "UNSUPPORTED_KEY",
      s"equal keys of type $dataType may differ in their bytes",
      "Partition by another key of the rows, such as the parts of this one.") {
    override def values: Map[String, String] =
      Map("expression" -> expression, "type" -> dataType)
  }

  case object WindowHinted
    extends RankDecline(
      "WINDOW_HINT",
      "another extension's hint asks for the window itself",
      "Remove the hint.")

  final case class NativeWindow(operator: String, rows: BigInt)
    extends RankDecline(
      "NATIVE_WINDOW",
      "adaptive execution has counted few rows, and another extension computes the window natively",
      "") {
    override def values: Map[String, String] =
      Map("operator" -> operator, "rows" -> rows.toString)
  }

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
    UnsupportedKey("", "such a type"),
    WindowHinted,
    NativeWindow("", 0)
  ).map {
    case why: LimitTooLarge =>
      why.doc.copy(meaning = s"n exceeds ${RankConf.MAX_LIMIT.key}")
    case why => why.doc
  } :+ Decline.switchedOffDoc("rank", RankConf.ENABLED)
}
