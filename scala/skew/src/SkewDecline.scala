package io.firesteel.skew

import io.firesteel.core.decide.{Decline, DeclineDoc}

/** Why an aggregate with `DISTINCT` is left to Spark. */
sealed abstract class SkewDecline(reason: String, override val message: String) extends Decline {
  final override def code: String = s"SKEW.$reason"
}

object SkewDecline {

  case object OneDistinct
    extends SkewDecline(
      "ONE_DISTINCT",
      "all DISTINCT aggregates are of the same values; Spark makes no copies of the rows for them")

  /** @param by the hint or the setting */
  final case class OnePhase(by: String)
    extends SkewDecline("ONE_PHASE", s"$by says so") {
    override def setting: Option[String] = Some(SkewConf.PHASES.key)
  }

  case object NothingToSplit
    extends SkewDecline(
      "NOTHING_TO_SPLIT",
      "the hint TWO_PHASE stands over aggregates without DISTINCT values or sets, of which Spark " +
        "computes partial results before it shuffles already"
    )

  final case class ManyGroups(groups: Either[String, GroupFacts], max: Int)
    extends SkewDecline(
      "MANY_GROUPS",
      "a set of objects for each of many groups is what Spark does as well or better; of groups of " +
        "which nothing is known nobody can tell"
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
      "of so few rows the sets are made in less time than another shuffle takes") {
    override def values: Map[String, String] =
      Map("size" -> size.toString, SkewConf.SAMPLE_MIN_SIZE.key -> least.toString)
    override def setting: Option[String] = Some(SkewConf.SAMPLE_MIN_SIZE.key)
  }

  case object Streaming
    extends SkewDecline("STREAMING", "the aggregate is on a stream")

  final case class SourceAggregates(table: String)
    extends SkewDecline(
      "SOURCE_AGGREGATES",
      "the source can compute aggregates itself, and hand over a row for each group") {
    override def values: Map[String, String] = Map("table" -> table)
  }

  final case class UnsupportedFunction(function: String)
    extends SkewDecline(
      "UNSUPPORTED_FUNCTION",
      s"$function is not one of the DISTINCT aggregates that this room computes, which are " +
        "COUNT, SUM, AVG and those of variance"
    ) {
    override def values: Map[String, String] = Map("function" -> function)
  }

  final case class NotMergeable(function: String)
    extends SkewDecline("NOT_MERGEABLE", s"$function cannot be computed in parts") {
    override def values: Map[String, String] = Map("function" -> function)
  }

  final case class PythonFunction(function: String)
    extends SkewDecline(
      "PYTHON_FUNCTION",
      s"$function is a Python function, which Spark takes out of its own aggregates only") {
    override def values: Map[String, String] = Map("function" -> function)
  }

  final case class UnsupportedType(expression: String, dataType: String)
    extends SkewDecline(
      "UNSUPPORTED_TYPE",
      s"equal values of $expression may differ in their bytes, being $dataType") {
    override def values: Map[String, String] =
      Map("expression" -> expression, "type" -> dataType)
  }

  val docs: Seq[DeclineDoc] = Seq(
    DeclineDoc(OneDistinct.code, OneDistinct.message),
    DeclineDoc(
      OnePhase("").code,
      "The hint `ONE_PHASE` or the setting says so.",
      Some(SkewConf.PHASES.key)),
    DeclineDoc(NothingToSplit.code, NothingToSplit.message),
    DeclineDoc(
      ManyGroups(Left(""), 0).code,
      "`collect_set` where groups are many and none has half of the rows, or where neither statistics nor a sample " +
        "tell.",
      Some(SkewConf.PHASES.key)
    ),
    DeclineDoc(
      SmallInput(0, 0).code,
      "`collect_set` of rows that take less than another shuffle.",
      Some(SkewConf.SAMPLE_MIN_SIZE.key)),
    DeclineDoc(Streaming.code, Streaming.message),
    DeclineDoc(SourceAggregates("").code, SourceAggregates("").message),
    DeclineDoc(
      UnsupportedFunction("").code,
      "A DISTINCT aggregate that is not COUNT, SUM, AVG, collect_list or one of variance."),
    DeclineDoc(PythonFunction("").code, "A Python function in an argument or filter."),
    DeclineDoc(NotMergeable("").code, "An aggregate function that cannot be computed in parts."),
    DeclineDoc(
      UnsupportedType("", "").code,
      "A key or value whose equal values may differ in their bytes, such as a collated string " +
        "as a key, or a map."),
    DeclineDoc("SKEW.SWITCHED_OFF", "The room is switched off.", Some(SkewConf.ENABLED.key))
  )
}
