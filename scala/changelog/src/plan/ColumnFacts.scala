package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId, Expression, GetStructField, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.types.StructType

/** What is known of an operator's columns by those of its input that they are made of. */
private[changelog] object ColumnFacts {

  /**
   * The one of the columns by which an operator keeps its rows apart by which the watermark closes them:
   * a window before a time, which it passes earlier.
   */
  def closing(keys: Seq[Attribute], input: Facts): Option[Attribute] = {
    val times = keys.filter(key => input.eventTimes.contains(key.exprId))
    times.find(_.dataType.isInstanceOf[StructType]).orElse(times.headOption)
  }

  /**
   * The columns of time of an operator that keeps its rows apart by these: by the one that closes them no
   * change comes any more, by another one where none has come before.
   */
  def closed(keys: Seq[Attribute], input: Facts): Map[ExprId, EventTime] = {
    val by = closing(keys, input).map(_.exprId)
    keys.flatMap { key =>
      input.eventTimes.get(key.exprId)
        .filter(time => by.contains(key.exprId) || !time.mayBeLate)
        .map(time => key.exprId -> time.copy(mayBeLate = false))
    }.toMap
  }

  /** The column of time that a column is which has one of these values. */
  def timeOf(
      column: NamedExpression,
      values: Seq[Expression],
      times: Map[ExprId, EventTime]): Option[EventTime] = {
    val isMarked = column.metadata.contains(EventTimeWatermark.delayKey)
    val made = values.map(EventTime.made(_, isMarked, times))
    if (made.exists(_.isEmpty)) None else made.flatten.reduceOption(_ | _)
  }

  /** The upsert keys of a projection: those all of whose columns it passes on, whole or in parts. */
  def mapKeys(columns: Seq[NamedExpression], keys: Set[Set[ExprId]]): Set[Set[ExprId]] = {
    val names = inParts(columns) ++ renamed(columns).reverse.map { case (from, to) =>
      from -> Set(to)
    }
    keys.filter(_.forall(names.contains)).map(_.flatMap(names))
  }

  /** Structs all of whose fields are columns, as are the start and the end of a window of time. */
  private def inParts(columns: Seq[NamedExpression]): Map[ExprId, Set[ExprId]] = {
    val parts = columns.collect {
      case alias @ Alias(GetStructField(struct: Attribute, at, _), _) if !struct.nullable =>
        (struct, at, alias.exprId)
    }
    parts.groupBy(_._1.exprId).collect {
      case (id, of)
          if of.map(_._2).distinct.size == of.head._1.dataType.asInstanceOf[StructType].size =>
        id -> of.distinctBy(_._2).map(_._3).toSet
    }
  }

  /**
   * Of columns by which an operator keeps its rows apart, and which are computed below it, the columns whose
   * normal form they are.
   *
   * @param below the columns of the projection below, if there is one
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

  /** Columns that a projection passes on, and what it calls them. */
  def renamed(columns: Seq[NamedExpression]): Seq[(ExprId, ExprId)] = columns.collect {
    case column: Attribute => column.exprId -> column.exprId
    case alias @ Alias(column: Attribute, _) => column.exprId -> alias.exprId
  }
}
