package io.firesteel.changelog.plan

import io.firesteel.changelog.plan.frames.{OverCall, OverFrameKind}
import org.apache.spark.sql.catalyst.expressions.{Attribute, BoundReference, Expression, Literal, SortOrder}
import org.apache.spark.sql.catalyst.plans.JoinType

/** The text of changelog operators in logical and physical plans. */
private[changelog] object PlanText {

  def list(parts: Seq[String]): String = parts.mkString("[", ", ", "]")

  def columns(columns: Seq[Attribute]): String = list(columns.map(_.toString))

  /** Calls of aggregate functions. Their arguments are positions in a list of columns. */
  def calls(
      functions: Seq[Expression],
      distinct: Seq[Boolean],
      arguments: Seq[Attribute]): Seq[String] =
    functions.zip(distinct).map { case (function, isDistinct) =>
      val (call, filter) = function match {
        case any: AnyAggregate => (any.function, any.filter)
        case other => (other, None)
      }
      def text(e: Expression) =
        e.transform { case place: BoundReference => arguments(place.ordinal) }.toString
      val where = filter.fold("")(f => s" FILTER (WHERE ${text(f)})")
      val plain = text(call)
      (if (isDistinct) plain.replaceFirst("\\(", "(DISTINCT ") else plain) + where
    }

  def topN(
      partition: Seq[Attribute],
      order: Seq[SortOrder],
      places: Places,
      strategy: String,
      rowKey: Seq[Attribute]): Seq[String] =
    Seq(
      columns(partition),
      list(order.map(_.toString)),
      places.toString,
      s"strategy=$strategy") ++ (if (rowKey.isEmpty) Nil else Seq(s"rowKey=${columns(rowKey)}"))

  /** Calls of functions over the rows around a row; their arguments are places in a row. */
  def overCalls(calls: Seq[OverCall], row: Seq[Attribute]): Seq[String] = calls.map { call =>
    val (function, filter) = call.in(row)
    val where = filter.fold("")(f => s" FILTER (WHERE $f)")
    val ends = s"BETWEEN ${end(call.frame.lower)} AND ${end(call.frame.upper)}"
    s"$function$where ${call.frame.frameType.sql} $ends"
  }

  private def end(bound: Expression): String = bound match {
    case Literal(n: Int, dataType) if n < 0 => s"${Literal(-n, dataType).sql} PRECEDING"
    case Literal(n: Long, dataType) if n < 0 => s"${Literal(-n, dataType).sql} PRECEDING"
    case offset: Literal => s"${offset.sql} FOLLOWING"
    case special => special.sql
  }

  def over(
      partition: Seq[Attribute],
      order: Seq[SortOrder],
      calls: Seq[OverCall],
      frames: OverFrameKind,
      row: Seq[Attribute]): Seq[String] = Seq(
    columns(partition),
    list(order.map(_.toString)),
    list(overCalls(calls, row)),
    s"frames=[${frames.text}]")

  def join(
      joinType: JoinType,
      keys: Seq[(Attribute, Attribute)],
      condition: Option[Expression]): Seq[String] =
    Seq(
      JoinOutput.name(joinType),
      list(keys.map { case (l, r) => s"$l = $r" })) ++ condition.map(_.toString)

  def normalize(keys: Seq[Attribute], sequence: Seq[Attribute]): Seq[String] =
    columns(keys) +: (if (sequence.isEmpty) Nil else Seq(s"sequence=${columns(sequence)}"))
}
