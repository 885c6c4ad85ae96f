package io.firesteel.panes

import io.firesteel.core.decide.Decline
import io.firesteel.core.expressions.Apart
import io.firesteel.core.rows.{RawColumns, WideSum}
import io.firesteel.core.windows.PaneQuery
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, GetStructField, NamedExpression, RowOrdering, SessionWindow}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, DeclarativeAggregate, ImperativeAggregate}
import org.apache.spark.sql.catalyst.planning.PhysicalAggregation
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.firesteel.normalizeFloats

/**
 * The parts of the aggregate, as expressions over the rows before copying.
 *
 * @param keys the grouping expressions, except the window
 * @param functions the aggregate functions
 * @param results the output, over keys, the window column and results of functions
 * @param raw columns that functions read although a key is computed from them
 */
private[panes] final case class PaneParts(
    keys: Seq[NamedExpression],
    functions: Seq[AggregateExpression],
    results: Seq[NamedExpression],
    raw: RawColumns)

private[panes] object PaneParts {

  def of(query: PaneQuery): Either[Decline, PaneParts] = query.aggregate match {
    case PhysicalAggregation(groups, functions, results, _) =>
      val inRows = groups.map(group => group -> query.inRows(group))
      val (ofWindow, ofRows) = inRows.partition { case (_, e) => query.readsWindow(e) }
      for {
        _ <- refuse(functions.flatMap(function(query, _)).headOption)
        _ <- refuse(partOfWindow(query, ofWindow.map(_._2)))
        _ <- refuse(ofRows.flatMap { case (_, key) => unsupported(query, key) }.headOption)
      } yield {
        val keys = ofRows.map { case (group, key) => named(group, normalizeFloats(key)) }
        val called = functions.map(query.inRows(_).asInstanceOf[AggregateExpression])
        val raw = RawColumns.of(keys, called)
        val together = apart(query, called)
        PaneParts(
          keys,
          // Panes are added in the order of time, not of the rows, so an intermediate sum may
          // leave the range of its type.
          called.map(call => WideSum.of(raw.over(together(call)))),
          results.map(withWindow(_, ofWindow.map { case (g, e) => g.toAttribute -> e }.toMap)),
          raw
        )
      }
    case other => Left(PanesDecline.NotMergeable(other.simpleString(1)))
  }

  /**
   * Takes the inputs of functions apart, if they compute what a projection below the aggregate
   * computed by itself.
   */
  private def apart(
      query: PaneQuery,
      calls: Seq[AggregateExpression]): AggregateExpression => AggregateExpression = {
    val isInlined = query.between.exists {
      case project: Project => project.projectList.exists {
          case alias: Alias => !query.readsWindow(alias)
          case _ => false
        }
      case _ => false
    }
    if (!isInlined) identity
    else
      Apart.computedTogether(calls.flatMap { call =>
        call.aggregateFunction.children ++ call.filter
      }).inputsOf(_)
  }

  private def refuse(why: Option[Decline]): Either[Decline, Unit] = why.toLeft(())

  private def function(query: PaneQuery, function: AggregateExpression): Option[Decline] = {
    val read = query.inRows(function)
    val inputs = function.aggregateFunction.children ++ function.filter
    function.aggregateFunction match {
      case _ if function.isDistinct => Some(PanesDecline.DistinctAggregate(function.sql))
      case _: DeclarativeAggregate | _: ImperativeAggregate =>
        // Functions such as first() report non-deterministic themselves, so check inputs only.
        if (query.readsWindow(read)) Some(PanesDecline.ReadsWindow(function.sql))
        else if (inputs.exists(!_.deterministic)) Some(PanesDecline.NonDeterministic(function.sql))
        else unknownColumn(query, read)
      case _ => Some(PanesDecline.NotMergeable(function.sql))
    }
  }

  /** Groups must identify windows. A start or an end does, because all windows have one length. */
  private def partOfWindow(query: PaneQuery, groups: Seq[Expression]): Option[Decline] = {
    def tellsApart(group: Expression): Boolean = group match {
      case window: Attribute => window == query.copied.attribute
      case field: GetStructField => field.child == query.copied.attribute
      case _ => false
    }
    groups
      .find(!query.readsWindowOnly(_))
      .orElse(if (groups.exists(tellsApart)) None else Some(query.copied.attribute))
      .map(e => PanesDecline.PartOfWindow(e.sql))
  }

  private def unsupported(query: PaneQuery, key: Expression): Option[Decline] = {
    // Spark merges session windows with operators of its own.
    val isSession = key.references.exists(_.metadata.contains(SessionWindow.marker))
    if (!key.deterministic) Some(PanesDecline.NonDeterministic(key.sql))
    else if (isSession || !RowOrdering.isOrderable(key.dataType))
      Some(PanesDecline.UnsupportedKey(key.sql, key.dataType.simpleString))
    else unknownColumn(query, key)
  }

  private def unknownColumn(query: PaneQuery, expression: Expression): Option[Decline] =
    query.unknownColumns(expression).headOption.map(c => PanesDecline.UnknownWindow(c.sql))

  /** `key` with the name and the id of `group`, which results refer to. */
  private def named(group: NamedExpression, key: Expression): NamedExpression = key match {
    case same: Attribute if same.exprId == group.exprId => same
    case other => Alias(other, group.name)(exprId = group.exprId)
  }

  /** A result in which groups that depend on the window are computed from it. */
  private def withWindow(
      result: NamedExpression,
      groups: Map[Attribute, Expression]): NamedExpression = result match {
    case group: Attribute =>
      groups.get(group).fold[NamedExpression](group)(named(group, _))
    case other =>
      other
        .transform { case group: Attribute => groups.getOrElse(group, group) }
        .asInstanceOf[NamedExpression]
  }
}
