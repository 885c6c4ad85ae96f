package io.firesteel.changelog.rules

import io.firesteel.changelog.plan.parse.{ReadTemporalJoin, ReadWindows, StatelessSource}
import io.firesteel.changelog.plan.parse.conditions.{SideTtl, SortBelow}
import io.firesteel.changelog.sql.{InputHint, RowKindFunction, Snapshot}
import io.firesteel.changelog.state.PlanVersion

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{GetJsonObject, InputFileBlockLength, InputFileBlockStart, InputFileName, JsonToStructs, UserDefinedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, AnalysisHelper, Deduplicate, DeduplicateWithinWatermark, Distinct, EventTimeWatermark, Filter, Generate, GlobalLimit, Join, LocalLimit, LogicalPlan, MapElements, MapInArrow, MapInPandas, MapPartitions, Offset, Project, ResolvedHint, SubqueryAlias, TypedFilter, Union, View}

/** Which nodes of a query can be a shared part, and what they cost. */
private[rules] object SharableNodes {

  /** A query below the names that it has as a whole. */
  @tailrec
  def belowNames(query: LogicalPlan): LogicalPlan = query match {
    case name @ (_: SubqueryAlias | _: View) => belowNames(name.children.head)
    case other => other
  }

  /** Names stand for a plan: what a view is must not depend on its name. */
  def withoutNames(plan: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformUp { case name @ (_: SubqueryAlias | _: View) => name.children.head }
    }

  /** Nodes that compute nothing. */
  def isName(plan: LogicalPlan): Boolean = plan match {
    case _: ResolvedHint | _: SubqueryAlias | _: View => true
    case Project(_, child) => withoutNames(plan).canonicalized == withoutNames(child).canonicalized
    case _ => false
  }

  def isDeduplicate(plan: LogicalPlan): Boolean = plan match {
    case _: Deduplicate | _: DeduplicateWithinWatermark => true
    case _ => false
  }

  def isStateless(plan: LogicalPlan): Boolean = StatelessSource.is(plan)

  /** Whether a plan keeps state, in operators of this room or of Spark. */
  def hasState(plan: LogicalPlan): Boolean =
    !isStateless(plan) || plan.exists(isDeduplicate)

  /** Whether an operator keeps state itself, or may. */
  def isStateful(plan: LogicalPlan): Boolean = isDeduplicate(plan) || !isStateless(plan) &&
    (plan match {
      case _: Project | _: Filter | _: Generate | _: Union => false
      case _ => true
    })

  def inputs(plan: LogicalPlan): Seq[LogicalPlan] =
    if (isWhole(plan)) Nil else plan.children.filter(_.isStreaming)

  /** Operators that are recognised by several nodes of the query together. */
  def isWhole(plan: LogicalPlan): Boolean = plan match {
    case _: Snapshot | _: Offset => true
    case join: Join if ReadTemporalJoin.isOf(join) => true
    case mark: EventTimeWatermark => !isStateless(mark) // on a table of changes
    case _ => isStateful(plan) && ReadWindows.areIn(plan)
  }

  /** Whether an expression is about the file of a row. */
  def asksFile(plan: LogicalPlan): Boolean = plan.expressions.exists(_.exists {
    case _: InputFileName | _: InputFileBlockStart | _: InputFileBlockLength => true
    case _ => false
  })

  /** Whether a reader may take the rows in their order: a part has none. */
  def isOrdered(plan: LogicalPlan): Boolean = hasState(plan) && SortBelow(plan).nonEmpty

  /** Whether what an operator tells depends on the order of its input's rows. */
  def asksOrder(plan: LogicalPlan): Boolean = plan match {
    case _: LocalLimit | _: GlobalLimit | _: Offset => true
    case _ => false
  }

  def passesOrder(plan: LogicalPlan): Boolean =
    plan.isInstanceOf[Project] || plan.isInstanceOf[Filter]

  /**
   * Operators that are read as they are, whatever stands above them.
   *
   * @param version the [[PlanVersion]]: operators above find hints as theirs does
   */
  def mayBeShared(plan: LogicalPlan, version: Int): Boolean =
    !plan.exists(_.expressions.exists(RowKindFunction.isIn)) && (plan match {
      case hinted if InputHint.isAt(hinted) => false
      case hinted
          if version >= PlanVersion.whereBelow && SideTtl.of(hinted)(isStateless).nonEmpty => false
      case hinted
          if version >= PlanVersion.ttlOfGroups && InputHint.ttlOfGroups(hinted).nonEmpty => false
      case _: Aggregate | _: Distinct | _: Union | _: GlobalLimit | _: Project | _: Filter |
          _: Generate => true
      case join: Join => join.condition.nonEmpty
      case other => isStateless(other)
    })

  def costs(plan: LogicalPlan): Boolean =
    plan.exists(isCostly) || plan.collectLeaves().exists(leaf =>
      leaf.isStreaming && !StreamFormats.isColumnar(leaf))

  /** Functions of users, and of JSON; values that may differ each time must be one for all. */
  def isCostly(plan: LogicalPlan): Boolean =
    (plan match {
      case _: MapElements | _: MapPartitions | _: TypedFilter | _: MapInPandas | _: MapInArrow =>
        true
      case _ => false
    }) || plan.expressions.exists(_.exists {
      case _: UserDefinedExpression | _: JsonToStructs | _: GetJsonObject => true
      case other => !other.deterministic
    })
}
