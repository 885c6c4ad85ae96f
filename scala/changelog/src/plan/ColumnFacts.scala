package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId, Expression, GetStructField, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.types.StructType

/** What is known of an operator's columns by those of its input that they are made of. */
private[changelog] object ColumnFacts {

  /**
   * The one of the columns by which an operator keeps its rows apart by which the watermark closes them:
   * a window before a time, which it passes earlier. By another one changes may still come.
   */
  def closing(keys: Seq[Attribute], input: Facts): Set[ExprId] = {
    val times = keys.filter(key => input.eventTimes(key.exprId))
    times.find(_.dataType.isInstanceOf[StructType]).orElse(times.headOption).map(_.exprId).toSet
  }

  /** Whether Spark says that the watermark has passed a column when it has passed these times of it. */
  def isTime(column: NamedExpression, values: Seq[Expression], times: Set[ExprId]): Boolean =
    column.metadata.contains(EventTimeWatermark.delayKey) && values.forall { value =>
      value.references.nonEmpty && value.references.forall(c => times(c.exprId))
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

  /** Columns that a projection passes on, and what it calls them. */
  def renamed(columns: Seq[NamedExpression]): Seq[(ExprId, ExprId)] = columns.collect {
    case column: Attribute => column.exprId -> column.exprId
    case alias @ Alias(column: Attribute, _) => column.exprId -> alias.exprId
  }
}
