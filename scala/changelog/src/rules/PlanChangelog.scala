package io.firesteel.changelog.rules

import io.firesteel.changelog.aggregate.{AggregateExecs, ChangelogAggregateExec, PartialAggregateExec, PartialValues}
import io.firesteel.changelog.complete.ChangelogTableExec
import io.firesteel.changelog.filter.ChangelogFilterExec
import io.firesteel.changelog.held.{ClosedRowsExec, HeldRowsExec, HeldSessionsExec, WholeUnionExec}
import io.firesteel.changelog.join.{ChangelogJoinExec, JoinSpec, SpecBelow}
import io.firesteel.changelog.normalize.{ChangelogNormalizeExec, NewestRowsExec}
import io.firesteel.changelog.over.ChangelogOverExec
import io.firesteel.changelog.plan.TableRows
import io.firesteel.changelog.plan.lower.{AnalyzedColumns, BatchRows, ChangelogAggregate, ChangelogFilter, ChangelogHeldRows, ChangelogHeldSessions, ChangelogJoin, ChangelogMatches, ChangelogNormalize, ChangelogNumbers, ChangelogOverAggregate, ChangelogTable, ChangelogTemporalJoin, ChangelogTopN, ReadOnce, SinkRows, StatefulNode, StreamRows}
import io.firesteel.changelog.plan.share.{SharedPlans, SharedPlansExec, SharedView, SharedViewExec}
import io.firesteel.changelog.sql.{InputHint, StateTtl}
import io.firesteel.changelog.state.{GuestExec, StatefulChangelogExec}
import io.firesteel.changelog.state.inputs.{ReadOnceExec, StateProbe}
import io.firesteel.changelog.statements.{StatementRows, StatementRowsExec, StatementSetRows, StatementSetRowsExec}
import io.firesteel.changelog.tablejoin.{ChangelogMatchesExec, ChangelogNumbersExec}
import io.firesteel.changelog.temporal.ChangelogTemporalJoinExec
import io.firesteel.changelog.topn.{ChangelogTopNExec, PartialTopNExec}
import io.firesteel.changelog.upsert.{NetRecords, NetRecordsExec}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Union}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.types.IntegerType

/**
 * Plans the nodes of a changelog. Below each operator stands a projection to exactly the columns
 * that it reads, for which Spark generates code together with the scan.
 */
object PlanChangelog extends SparkStrategy {

  /** The rule's name in `firesteel.explain`, passed to the operators. */
  private def ruleName = RewriteStreamingWrite.getClass.getSimpleName.stripSuffix("$")

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = stateful(plan) match {
    case Some(operator) => GuestExec.orHost(operator) :: Nil
    case None => others(plan)
  }

  /** The join below as the optimizer has left it. */
  private def below(node: ChangelogJoin): Option[SpecBelow] = node.below.map { its =>
    val lower = node.left.collectFirst { case join: ChangelogJoin => join }.getOrElse(
      throw new IllegalStateException("the join whose rows are joined again is gone"))
    SpecBelow(
      its.member,
      its.stored,
      JoinSpec(
        lower.joinType,
        lower.leftSide,
        lower.rightSide,
        lower.condition,
        pairedBy = None,
        lower.unread,
        isInSlots = false,
        isSnapshot = false,
        updateBefore = true,
        below(lower)
      )
    )
  }

  private def stateful(plan: LogicalPlan): Option[StatefulChangelogExec] = plan match {
    case node: ChangelogAggregate => Some(aggregate(node))
    case node: ChangelogTopN => Some(topN(node))
    case node: ChangelogOverAggregate => Some(over(node))
    case node: ChangelogNormalize => Some(normalize(node))
    case node: ChangelogTable =>
      val child = planLater(project(node.columns ++ node.contract.kindIn, node.child))
      Some(ChangelogTableExec(node.columns, ruleName, node.contract, None, StateProbe(child)))
    case node: ChangelogJoin =>
      Some(ChangelogJoinExec(
        node.joinType,
        node.leftSide,
        node.rightSide,
        node.condition,
        node.pairedBy,
        node.unread,
        node.isInSlots,
        node.isSnapshot,
        below(node),
        ruleName,
        node.contract,
        None,
        StateProbe(planLater(node.left)),
        planLater(node.right)
      ))
    case node: ChangelogHeldRows =>
      val read = planLater(project(node.columns, node.child))
      Some(
        HeldRowsExec(node.by, node.columns, ruleName, node.contract, None, StateProbe(read)))
    case node: ChangelogHeldSessions =>
      val read = planLater(project((node.keys ++ node.columns).distinct, node.child))
      Some(HeldSessionsExec(
        node.keys,
        node.columns,
        node.time,
        node.gap,
        node.start,
        node.end,
        ruleName,
        node.contract,
        None,
        StateProbe(read)
      ))
    case node: ChangelogTemporalJoin =>
      Some(ChangelogTemporalJoinExec(
        node.joinType,
        node.leftKeys,
        node.rightKeys,
        node.leftTime,
        node.rightTime,
        node.order,
        node.deleted,
        node.condition,
        node.leftColumns,
        node.rightColumns,
        ruleName,
        node.contract,
        None,
        StateProbe(planLater(node.left)),
        planLater(node.right)
      ))
    case _ => None
  }

  private def others(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case TableRows(child) => planLater(child) :: Nil
    case union: Union if union.exists(_.isInstanceOf[StatefulNode]) =>
      WholeUnionExec(union.children.map(planLater)) :: Nil
    case AnalyzedColumns(_, child) => planLater(child) :: Nil
    case BatchRows(child) => planLater(child) :: Nil
    case StreamRows(child) => ClosedRowsExec(planLater(child)) :: Nil
    case SinkRows(child) => SinkRowsExec(planLater(child)) :: Nil
    case StatementRows(name, mode, child) =>
      StatementRowsExec(name, mode, planLater(child)) :: Nil
    case StatementSetRows(output, statements, checkpoint) =>
      StatementSetRowsExec(output, statements.map(planLater), checkpoint) :: Nil
    case SharedPlans(parts, plans) => SharedPlansExec(parts, plans.map(planLater)) :: Nil
    case SharedView(part, output) => SharedViewExec(part, output) :: Nil
    case ReadOnce(child) => ReadOnceExec(planLater(child)) :: Nil
    case node: ChangelogFilter =>
      ChangelogFilterExec(node.passes, node.kind, node.kindOut, planLater(node.child)) :: Nil
    case node: ChangelogNumbers =>
      ChangelogNumbersExec(node.number, planLater(node.child)) :: Nil
    case node: ChangelogMatches =>
      ChangelogMatchesExec(
        node.columns,
        node.number,
        node.isThere,
        node.element,
        node.matches,
        planLater(node.child)) :: Nil
    case NetRecords(key, row, kind, value, child) =>
      NetRecordsExec(key, row, kind, value, planLater(child)) :: Nil
    case StateTtl(_, child) => planLater(child) :: Nil
    case InputHint(_, _, child) => planLater(child) :: Nil
    case _ => Nil
  }

  private def aggregate(node: ChangelogAggregate): StatefulChangelogExec = {
    val kindIn = node.contract.kindIn
    val windows = node.panes.map(_.windows)
    val layout =
      AggregateExecs.layout(
        node.keys,
        node.functions,
        node.distinct,
        kindIn,
        windows,
        node.gap.nonEmpty)
    val end = node.results.indexWhere(result => node.closedBy.exists(_.exprId == result.exprId))
    val read = project(node.keys ++ node.arguments ++ kindIn, node.child)
    val computed = node.child match {
      case same: AnalyzedColumns => same.child
      case other => other
    }
    val partial = PartialAggregateExec(
      node.keys,
      node.arguments,
      PartialValues.same(node.arguments, computed),
      node.functions,
      node.distinct,
      kindIn,
      windows,
      node.gap.map(_ => (end, node.contract.watermark)),
      AggregateExecs.delta(node.keys, layout),
      planLater(read)
    )
    ChangelogAggregateExec(
      node.keys,
      node.functions,
      node.distinct,
      node.results,
      node.isGlobal,
      node.once.nonEmpty,
      node.panes,
      node.closedBy,
      node.gap,
      node.calls,
      ruleName,
      node.contract,
      None,
      StateProbe(partial)
    )
  }

  private def topN(node: ChangelogTopN): StatefulChangelogExec = {
    val read =
      planLater(project(node.partition ++ node.columns ++ node.contract.kindIn, node.child))
    // Without a last place every row is kept, so there is nothing to fold below the exchange.
    val keepsAll = !node.places.isBounded && node.rowKey.isEmpty
    val input =
      if (node.contract.kindIn.nonEmpty || keepsAll) read
      else PartialTopNExec(node.partition, node.order, node.places, node.rowKey, read)
    ChangelogTopNExec(
      node.partition,
      node.columns,
      node.order,
      node.places,
      node.rank,
      node.strategy,
      node.rowKey,
      ruleName,
      node.contract,
      None,
      StateProbe(input)
    )
  }

  private def over(node: ChangelogOverAggregate): StatefulChangelogExec = {
    val read = project(node.partition ++ node.columns ++ node.contract.kindIn, node.child)
    ChangelogOverExec(
      node.partition,
      node.columns,
      node.order,
      node.calls,
      node.results,
      node.frames,
      node.ties,
      node.numberedBy,
      node.pairedBy,
      node.closesSessions,
      ruleName,
      node.contract,
      None,
      StateProbe(planLater(read))
    )
  }

  private def normalize(node: ChangelogNormalize): StatefulChangelogExec = {
    val read = planLater(project(node.keys ++ node.columns ++ node.contract.kindIn, node.child))
    val partition = AttributeReference("partition", IntegerType, nullable = false)()
    ChangelogNormalizeExec(
      node.keys,
      node.columns,
      node.sequence,
      node.unread,
      ruleName,
      node.contract,
      None,
      StateProbe(NewestRowsExec(node.keys, node.sequence, partition, read))
    )
  }

  private def project(columns: Seq[NamedExpression], input: LogicalPlan): LogicalPlan = {
    val wanted: Seq[Attribute] = columns.map(_.toAttribute)
    // Spark plans a projection with the projections below it as one.
    val child = input match {
      case AnalyzedColumns(_, rows) => rows
      case rows => rows
    }
    if (child.output.map(_.exprId) == wanted.map(_.exprId)) child else Project(columns, child)
  }
}
