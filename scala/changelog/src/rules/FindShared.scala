package io.firesteel.changelog.rules

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.parse.{ReadTemporalJoin, ReadWindows, StatelessSource, WindowsEmit}
import io.firesteel.changelog.plan.share.{SharedPart, SharedView}
import io.firesteel.changelog.sql.{InputTtl, RowKindFunction, Snapshot, StateTtl}

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Attribute, GetJsonObject, JsonToStructs, UserDefinedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, AnalysisHelper, Deduplicate, DeduplicateWithinWatermark, Distinct, Filter, Generate, GlobalLimit, Join, LogicalPlan, MapElements, MapInArrow, MapInPandas, MapPartitions, Offset, Project, ResolvedHint, SubqueryAlias, TypedFilter, Union, View}

/**
 * Finds what several queries compute, or one query several times, and what of it is worth a shared
 * part. Plans are the same if they are equal but for the ids of columns, as the copies of a view are.
 *
 * A part is shared if it has state, if it calls functions that cost much or may give another value
 * each time, or if its source is no columnar file: reading such a file twice costs less than keeping
 * its rows.
 *
 * @param onlyState whether parts without state are not shared
 */
final private[rules] class FindShared(
    queries: Seq[FindShared.Query],
    planner: FindShared.Planner,
    onlyState: Boolean) {
  import FindShared._

  /** A plan whatever its ids. Groups differ by when they are emitted, and state by its life. */
  private case class Key(plan: LogicalPlan, at: Option[Context])

  /**
   * What reading a plan depends on beside the plan.
   *
   * @param ttl the hint above it, in milliseconds
   */
  private case class Context(emit: WindowsEmit, ttl: Option[Long])

  private class Node(val plan: LogicalPlan, val at: Context) {
    val children: mutable.ArrayBuffer[Key] = mutable.ArrayBuffer.empty
    var roots = 0 // queries that are the plan
    var isBelowState = false
    var isPart = false
    var times = 0 // how often it is computed

    /** The plan below its hint. */
    def hinted(its: LogicalPlan): LogicalPlan = at.ttl.fold(its)(StateTtl(_, its))
  }

  private val nodes = mutable.LinkedHashMap.empty[Key, Node] // an input before its readers
  private val parts = mutable.LinkedHashMap.empty[Key, Planned]
  private val why = mutable.ArrayBuffer.empty[String]

  /** The shared parts with their plans, and the queries that read them. */
  def apply(): Found = {
    val bare = queries.map(query => query.copy(plan = withoutNames(query.plan)))
    bare.foreach { query =>
      nodes(visit(query.plan, Context(query.emit, None), belowState = false)).roots += 1
    }
    nodes.values.toSeq.reverse.foreach(decide)
    val reading = bare.map(query => reader(query.plan, Context(query.emit, None)))
    Found(parts.values.map(its => its.part -> its.plan).toSeq, reading, why.distinct.toSeq)
  }

  private def keyOf(plan: LogicalPlan, at: Context): Key =
    Key(plan.canonicalized, if (hasState(plan)) Some(at) else None)

  private def visit(plan: LogicalPlan, at: Context, belowState: Boolean): Key = plan match {
    case hint: StateTtl => visit(hint.child, at.copy(ttl = Some(hint.ms)), belowState)
    case _ if isName(plan) => visit(plan.children.head, at, belowState)
    case _ =>
      val key = keyOf(plan, at)
      val isNew = !nodes.contains(key)
      val isState = belowState || isStateful(plan)
      if (isNew || belowState && !nodes(key).isBelowState) {
        val below = inputs(plan).map(visit(_, at, isState))
        if (isNew) nodes(key) = new Node(plan, at)
        val node = nodes(key)
        if (isNew) node.children ++= below
        node.isBelowState ||= belowState
      }
      key
  }

  /** Readers come before their inputs, so their number is known. */
  private def decide(node: Node): Unit = {
    node.times += node.roots
    val plan = node.plan
    val (isRead, differs) = (node.times > 1, queries.size > 1 && varies(plan))
    if (mayBeShared(plan) && (isRead && (hasState(plan) || !onlyState && costs(plan)) || differs)) {
      planner.refusal(node.hinted(plan), node.at.emit, node.isBelowState) match {
        case None => node.isPart = true
        case Some(reason) => why += reason
      }
    }
    if (isRead && differs && !node.isPart) {
      throw ChangelogErrors.unsupportedOperator(
        varying(plan).fold(plan.nodeName)(_.sql),
        ("several statements read its values, which differ each time" +: why.lastOption.toSeq)
          .mkString(", and "),
        "compute it in one of them, or without state above it"
      )
    }
    val times = if (node.isPart) 1 else node.times
    node.children.foreach(child => nodes(child).times += times)
  }

  private def reader(plan: LogicalPlan, at: Context): LogicalPlan = plan match {
    case _ if !plan.isStreaming => plan
    case hint: StateTtl => hint.mapChildren(reader(_, at.copy(ttl = Some(hint.ms))))
    case hint: ResolvedHint =>
      // Spark broadcasts before parts are computed.
      val below = reader(hint.child, at)
      if (below.exists(_.isInstanceOf[SharedView])) below else hint.copy(child = below)
    case _ if isName(plan) => plan.mapChildren(reader(_, at))
    case _ =>
      val key = keyOf(plan, at)
      val node = nodes(key)
      if (!node.isPart) below(plan, at)
      else parts.getOrElse(
        key, {
          val own = below(plan, at) // adds the parts below
          val made = planner.plan(parts.size, node.hinted(own), at.emit, varies(plan))
          parts(key) = made
          made
        }).reader(plan.output)
  }

  private def below(plan: LogicalPlan, at: Context): LogicalPlan =
    if (isWhole(plan)) plan else plan.mapChildren(reader(_, at))
}

private[rules] object FindShared {

  final case class Query(plan: LogicalPlan, emit: WindowsEmit)

  /** @param declined reasons why parts that several read are computed for each */
  final case class Found(
      parts: Seq[(SharedPart, LogicalPlan)],
      queries: Seq[LogicalPlan],
      declined: Seq[String])

  /** @param reader what reads the part, with columns of its own for those of the part */
  final case class Planned(
      part: SharedPart,
      plan: LogicalPlan,
      reader: Seq[Attribute] => LogicalPlan)

  /** Reads a part of a query as operators. */
  trait Planner {

    /** Why it cannot be a part; none if it can. */
    def refusal(plan: LogicalPlan, emit: WindowsEmit, isBelowState: Boolean): Option[String]

    /** @param varies whether other values would come if it were computed again */
    def plan(id: Int, plan: LogicalPlan, emit: WindowsEmit, varies: Boolean): Planned
  }

  /** Names stand for a plan: what a view is must not depend on its name. */
  def withoutNames(plan: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformUp { case name @ (_: SubqueryAlias | _: View) => name.children.head }
    }

  /** Nodes that canonical plans do not have. */
  private def isName(plan: LogicalPlan): Boolean = plan match {
    case _: ResolvedHint => true
    case Project(_, child) => plan.canonicalized == child.canonicalized
    case _ => false
  }

  private def isDeduplicate(plan: LogicalPlan): Boolean = plan match {
    case _: Deduplicate | _: DeduplicateWithinWatermark => true
    case _ => false
  }

  private def isStateless(plan: LogicalPlan): Boolean = plan match {
    case StatelessSource(_) => true
    case _ => false
  }

  /** Whether a plan keeps state, in operators of this room or of Spark. */
  private def hasState(plan: LogicalPlan): Boolean =
    !isStateless(plan) || plan.exists(isDeduplicate)

  /** Whether an operator keeps state itself, or may. */
  private def isStateful(plan: LogicalPlan): Boolean = isDeduplicate(plan) || !isStateless(plan) &&
    (plan match {
      case _: Project | _: Filter | _: Generate | _: Union => false
      case _ => true
    })

  private def inputs(plan: LogicalPlan): Seq[LogicalPlan] =
    if (isWhole(plan)) Nil else plan.children.filter(_.isStreaming)

  /** Operators that are recognised by several nodes of the query together. */
  private def isWhole(plan: LogicalPlan): Boolean = plan match {
    case _: Snapshot | _: Offset => true
    case join: Join if ReadTemporalJoin.isOf(join) => true
    case _ => isStateful(plan) && ReadWindows.areIn(plan)
  }

  private def varying(plan: LogicalPlan) =
    if (isWhole(plan)) plan.collect { case node => node.expressions.find(!_.deterministic) }
      .flatten.headOption
    else plan.expressions.find(!_.deterministic)

  /** Where values arise that differ each time. What is computed of them is the same each time. */
  private def varies(plan: LogicalPlan): Boolean = varying(plan).nonEmpty

  /** Operators that are read as they are, whatever stands above them. */
  private def mayBeShared(plan: LogicalPlan): Boolean =
    !plan.exists(_.expressions.exists(RowKindFunction.isIn)) && (plan match {
      case _: InputTtl => false
      case _: Aggregate | _: Distinct | _: Union | _: GlobalLimit | _: Project | _: Filter |
          _: Generate => true
      // A filter above may have its keys.
      case join: Join => join.condition.nonEmpty
      case other => isStateless(other)
    })

  private def costs(plan: LogicalPlan): Boolean =
    plan.exists(isCostly) || plan.collectLeaves().exists(leaf =>
      leaf.isStreaming && !StreamFormats.isColumnar(leaf))

  /** Functions of users, and of JSON; values that may differ each time must be one for all. */
  private def isCostly(plan: LogicalPlan): Boolean =
    (plan match {
      case _: MapElements | _: MapPartitions | _: TypedFilter | _: MapInPandas | _: MapInArrow =>
        true
      case _ => false
    }) || plan.expressions.exists(_.exists {
      case _: UserDefinedExpression | _: JsonToStructs | _: GetJsonObject => true
      case other => !other.deterministic
    })
}
