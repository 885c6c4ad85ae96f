package io.firesteel.skew

import io.firesteel.core.decide.{Decline, DeclineDoc}

/** Why this room leaves an aggregate to Spark. */
sealed abstract class SkewDecline(reason: String, override val message: String) extends Decline {
  final override def code: String = s"SKEW.$reason"
}

object SkewDecline {

  case object OneDistinct
    extends SkewDecline(
      "ONE_DISTINCT",
      "all DISTINCT aggregates have the same arguments; Spark does not copy rows for them")

  /** @param by the hint or the setting */
  final case class OnePhase(by: String)
    extends SkewDecline("ONE_PHASE", s"$by asks for one phase") {
    override def setting: Option[String] = Some(SkewConf.PHASES.key)
  }

  case object NothingToSplit
    extends SkewDecline(
      "NOTHING_TO_SPLIT",
      "the hint TWO_PHASE is on aggregates without DISTINCT and without collect_set; Spark " +
        "computes partial results of these before the shuffle"
    )

  final case class ManyGroups(groups: Either[String, GroupFacts], max: Int)
    extends SkewDecline(
      "MANY_GROUPS",
      "with many groups Spark's own collect_set is as fast or faster; with an unknown number of " +
        "groups the faster plan is unknown"
    ) {
    override def values: Map[String, String] =
      groups.fold(
        why => Map("groups" -> s"unknown: $why"),
        facts =>
          Map("groups" -> facts.groups.toString, "largest share" -> f"${facts.largestShare}%.4f")
      ) + (SkewConf.MAX_GROUPS.key -> max.toString)
    override def setting: Option[String] = Some(SkewConf.PHASES.key)
  }

  final case class SmallInput(size: BigInt, least: Long)
    extends SkewDecline(
      "SMALL_INPUT",
      "the input is small: a second shuffle would take longer than it saves") {
    override def values: Map[String, String] =
      Map("size" -> size.toString, SkewConf.SAMPLE_MIN_SIZE.key -> least.toString)
    override def setting: Option[String] = Some(SkewConf.SAMPLE_MIN_SIZE.key)
  }

  case object Streaming
    extends SkewDecline("STREAMING", "the aggregate is on a stream")

  final case class SourceAggregates(table: String)
    extends SkewDecline(
      "SOURCE_AGGREGATES",
      "the source can compute the aggregate itself and return one row for each group") {
    override def values: Map[String, String] = Map("table" -> table)
  }

  final case class SessionKey(key: String)
    extends SkewDecline(
      "SESSION_WINDOW",
      "a key is a session window; Spark merges sessions with an operator of its own") {
    override def values: Map[String, String] = Map("key" -> key)
  }

  final case class UnsupportedFunction(function: String)
    extends SkewDecline(
      "UNSUPPORTED_FUNCTION",
      s"this room does not compute $function of DISTINCT values; it computes COUNT, SUM, AVG, " +
        "STDDEV, VARIANCE and collect_list"
    ) {
    override def values: Map[String, String] = Map("function" -> function)
  }

  final case class NotMergeable(function: String)
    extends SkewDecline("NOT_MERGEABLE", s"$function has no partial states that can be merged") {
    override def values: Map[String, String] = Map("function" -> function)
  }

  final case class PythonFunction(function: String)
    extends SkewDecline(
      "PYTHON_FUNCTION",
      s"$function is a Python function, which Spark extracts from its own aggregates only") {
    override def values: Map[String, String] = Map("function" -> function)
  }

  final case class UnsupportedType(expression: String, dataType: String)
    extends SkewDecline(
      "UNSUPPORTED_TYPE",
      s"$expression is of type $dataType, whose equal values may have different bytes") {
    override def values: Map[String, String] =
      Map("expression" -> expression, "type" -> dataType)
  }

  /** @param operator of the other extension */
  final case class NativePercentile(operator: String)
    extends SkewDecline(
      "NATIVE_PERCENTILE",
      "another extension computes the percentiles natively, which is faster") {
    override def values: Map[String, String] = Map("operator" -> operator)
  }

  val docs: Seq[DeclineDoc] = Seq(
    DeclineDoc(
      OneDistinct.code,
      OneDistinct.message,
      cure = "Nothing, as a rule; if one group has most of the rows, add the hint `TWO_PHASE`."),
    DeclineDoc(
      OnePhase("").code,
      "The hint `ONE_PHASE` or the setting asks for one phase.",
      Some(SkewConf.PHASES.key),
      cure = s"Remove the hint, or set `${SkewConf.PHASES.key}` to `AUTO`."
    ),
    DeclineDoc(NothingToSplit.code, NothingToSplit.message, cure = "Remove the hint."),
    DeclineDoc(
      ManyGroups(Left(""), 0).code,
      "`collect_set` with many groups, none of them with half of the rows; or with an unknown " +
        "number of groups.",
      Some(SkewConf.PHASES.key),
      cure = "If groups are few, run `ANALYZE TABLE … COMPUTE STATISTICS FOR COLUMNS` on the " +
        "keys and set `spark.sql.cbo.enabled`, or add the hint `TWO_PHASE`."
    ),
    DeclineDoc(
      SmallInput(0, 0).code,
      "`collect_set` of a small input: a second shuffle would take longer than it saves.",
      Some(SkewConf.SAMPLE_MIN_SIZE.key),
      cure = "Nothing, as a rule; if Spark's estimate of the size is too low, add the hint " +
        "`TWO_PHASE`."
    ),
    DeclineDoc(Streaming.code, Streaming.message),
    DeclineDoc(SourceAggregates("").code, SourceAggregates("").message),
    DeclineDoc(SessionKey("").code, SessionKey("").message),
    DeclineDoc(
      UnsupportedFunction("").code,
      "A `DISTINCT` aggregate other than `COUNT`, `SUM`, `AVG`, `STDDEV`, `VARIANCE` and " +
        "`collect_list`.",
      cure = "Compute that aggregate in a subquery of its own, and join the results by the keys."
    ),
    DeclineDoc(
      PythonFunction("").code,
      "A Python function in a key, an argument or a filter.",
      cure = "Use a SQL function, or write the function's result to a table first."
    ),
    DeclineDoc(
      NotMergeable("").code,
      "An aggregate function without partial states that can be merged, such as one in Python.",
      cure = "Compute that aggregate in a subquery of its own, and join the results by the keys."
    ),
    DeclineDoc(
      UnsupportedType("", "").code,
      "A key or value of a type whose equal values may have different bytes, such as a map, or a " +
        "collated string as a key.",
      cure = "Use `collation_key(s)` instead of a collated string `s`, and " +
        "`array_sort(map_entries(m))` instead of a map `m`."
    ),
    DeclineDoc(NativePercentile("").code, NativePercentile("").message),
    Decline.switchedOffDoc(
      "skew",
      SkewConf.ENABLED,
      "merged aggregates" -> SkewConf.MERGE_AGGREGATES,
      "percentiles" -> SkewConf.SORT_PERCENTILES)
  )
}
