package io.firesteel.changelog.plan

import io.firesteel.core.windows.WindowOfBounds

import scala.math.Ordering.Implicits.seqOrdering

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId, Expression, GetStructField, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.types.StructType

/** Facts of columns, derived from the facts of the columns below them. */
private[changelog] object ColumnFacts {

  /**
   * The key column by which the watermark closes an operator's state. A window comes before a time
   * column, because the watermark passes the window's start earlier.
   */
  def closing(keys: Seq[Attribute], input: Facts): Option[Attribute] = {
    val times = keys.filter(key => input.eventTimes.contains(key.exprId))
    times.find(_.dataType.isInstanceOf[StructType]).orElse(times.headOption)
  }

  /**
   * Event-time columns of an operator with these keys. By the closing column no row is late above
   * the operator. Another event-time column stays one only if it had no late rows below.
   */
  def closed(keys: Seq[Attribute], input: Facts): Map[ExprId, EventTime] = {
    val by = closing(keys, input).map(_.exprId)
    keys.flatMap { key =>
      input.eventTimes.get(key.exprId)
        .filter(time => by.contains(key.exprId) || !time.mayBeLate)
        .map(time => key.exprId -> time.afterLate)
    }.toMap
  }

  /** The event time of a column that holds one of these values. */
  def timeOf(
      column: NamedExpression,
      values: Seq[Expression],
      times: Map[ExprId, EventTime]): Option[EventTime] = {
    val isMarked = column.metadata.contains(EventTimeWatermark.delayKey)
    val made = values.map(EventTime.made(_, isMarked, times))
    if (made.exists(_.isEmpty)) None else made.flatten.reduceOption(_ | _)
  }

  /** The upsert keys of a projection: keys whose columns it passes on, whole or in parts. */
  def mapKeys(columns: Seq[NamedExpression], keys: Set[Set[ExprId]]): Set[Set[ExprId]] = {
    def mapped(names: Map[ExprId, Set[ExprId]]) =
      keys.filter(_.forall(names.contains)).map(_.flatMap(names))
    val names = inParts(columns) ++ renamed(columns).reverse.map { case (from, to) =>
      from -> Set(to)
    }
    val windows = ofBounds(columns)
    if (windows.isEmpty) mapped(names) else mapped(names) ++ mapped(names ++ windows)
  }

  /** Bounds of windows, which are passed on in the column of windows. */
  private def ofBounds(columns: Seq[NamedExpression]): Map[ExprId, Set[ExprId]] =
    columns.collect { case alias @ Alias(window: WindowOfBounds, _) =>
      window.children.collect { case bound: Attribute => bound.exprId -> Set(alias.exprId) }
    }.flatten.toMap

  /**
   * Structs whose fields are all passed on as columns, such as the start and the end of a window.
   */
  private def inParts(columns: Seq[NamedExpression]): Map[ExprId, Set[ExprId]] = {
    val parts = columns.collect { case alias @ Alias(field: GetStructField, _) =>
      (field.child, field.ordinal, alias.exprId)
    }.collect { case (struct: Attribute, at, id) if !struct.nullable => (struct, at, id) }
    parts.groupBy(_._1.exprId).collect {
      case (id, of)
          if of.map(_._2).distinct.size == of.head._1.dataType.asInstanceOf[StructType].size =>
        id -> of.distinctBy(_._2).map(_._3).toSet
    }
  }

  /**
   * For key columns that a projection below computes: the column whose normal form the key is.
   *
   * @param below the columns of the projection below; empty if there is none
   */
  def normalOf(
      keys: Seq[Attribute],
      below: Seq[NamedExpression],
      form: Expression => Expression): Map[ExprId, Attribute] = {
    val columns = below.map {
      case alias: Alias => alias.toAttribute -> alias.child
      case column => column.toAttribute -> column
    }
    val pairs = for {
      (key, value) <- columns if keys.exists(_.exprId == key.exprId)
      (of, _) <- columns.find { case (column, own) =>
        column.exprId != key.exprId && value.semanticEquals(form(own))
      }
    } yield key.exprId -> of
    pairs.toMap
  }

  /**
   * The same one of several upsert keys at every start: the shortest, and of these the one whose
   * columns come first.
   *
   * @param byPlace before [[PlanVersion.keysByPlace]] the one whose ids came first as texts, which is
   *   another one where ids have other digits
   */
  def smallest(
      keys: Set[Set[ExprId]],
      output: Seq[Attribute],
      byPlace: Boolean): Option[Set[ExprId]] =
    if (!byPlace)
      keys.toSeq.sortBy(k => (k.size, k.map(_.id).toSeq.sorted.mkString(" "))).headOption
    else keys.toSeq.sortBy { key =>
      key.size +: key.toSeq.map(id => output.indexWhere(_.exprId == id)).sorted
    }.headOption

  /** The same one of several upsert keys in one run of the query: the shortest. */
  def smallest(keys: Set[Set[ExprId]]): Option[Set[ExprId]] =
    keys.toSeq.sortBy(k => k.size.toLong +: k.map(_.id).toSeq.sorted).headOption

  /** Columns that a projection passes on, with their new ids. */
  def renamed(columns: Seq[NamedExpression]): Seq[(ExprId, ExprId)] = columns.collect {
    case column: Attribute => column.exprId -> column.exprId
    case alias @ Alias(column: Attribute, _) => column.exprId -> alias.exprId
  }
}
