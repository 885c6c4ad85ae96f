package io.firesteel.changelog.plan.share

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.parse.{StatelessSource, WindowsEmit}
import io.firesteel.changelog.sql.RowKindFunction

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{GetJsonObject, JsonToStructs, UserDefinedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Distinct, Filter, Generate, GlobalLimit, Join, LogicalPlan, MapElements, MapInArrow, MapInPandas, MapPartitions, Project, SubqueryAlias, TypedFilter, Union, View}

/**
 * Finds what several queries compute, or one query several times, and what of it is worth a shared
 * part. Plans are the same if they are equal but for the ids of columns, as the copies of a view are.
 *
 * A part is shared if it has state, if it calls functions that cost much or may give another value
 * each time, or if its source is no columnar file: reading such a file twice costs less than keeping
 * its rows.
 */
final private[changelog] class FindShared(
    queries: Seq[FindShared.Query],
    planner: FindShared.Planner) {
  import FindShared._

  /** A plan whatever its ids; groups of windows differ by when they are emitted. */
  private case class Key(plan: LogicalPlan, emit: Option[WindowsEmit])

  private class Node(val plan: LogicalPlan, val emit: WindowsEmit) {
    val children: mutable.ArrayBuffer[Key] = mutable.ArrayBuffer.empty
    var roots = 0 // queries that are the plan
    var isBelowState = false
    var isPart = false
    var times = 0 // how often it is computed
  }

  private val nodes = mutable.LinkedHashMap.empty[Key, Node] // an input before its readers
  private val parts = mutable.LinkedHashMap.empty[Key, (SharedPart, LogicalPlan)]
  private val why = mutable.ArrayBuffer.empty[String]

  /** The shared parts with their plans, and the queries that read them. */
  def apply(): Found = {
    queries.foreach { query => nodes(visit(query.plan, query.emit, belowState = false)).roots += 1 }
    nodes.values.toSeq.reverse.foreach(decide)
    val reading = queries.map(query => reader(query.plan, query.emit))
    Found(parts.values.toSeq, reading, why.distinct.toSeq)
  }

  private def keyOf(plan: LogicalPlan, emit: WindowsEmit): Key =
    Key(plan.canonicalized, if (isStateless(plan)) None else Some(emit))

  /** Names, and projections that change nothing: a plan and its input are the same. */
  private def isName(plan: LogicalPlan): Boolean = plan match {
    case _: SubqueryAlias | _: View => true
    case Project(_, child) => plan.canonicalized == child.canonicalized
    case _ => false
  }

  private def visit(plan: LogicalPlan, emit: WindowsEmit, belowState: Boolean): Key = plan match {
    case _ if isName(plan) => visit(plan.children.head, emit, belowState)
    case _ =>
      val key = keyOf(plan, emit)
      val isNew = !nodes.contains(key)
      val inputs = plan.children.filter(_.isStreaming)
      val isState = belowState || !isStateless(plan) && !passes(plan)
      if (isNew || belowState && !nodes(key).isBelowState) {
        val below = inputs.map(visit(_, emit, isState))
        if (isNew) nodes(key) = new Node(plan, emit)
        val node = nodes(key)
        if (isNew) node.children ++= below
        node.isBelowState ||= belowState
      }
      key
  }

  /** Readers come before their inputs, so their number is known. */
  private def decide(node: Node): Unit = {
    node.times += node.roots
    val (isRead, differs) = (node.times > 1, queries.size > 1 && varies(node.plan))
    if (mayBeShared(node.plan) && (isRead && isWorth(node.plan) || differs)) {
      node.isPart = planner.refusal(node.plan, node.emit, node.isBelowState) match {
        case None => true
        case Some(reason) if isRead && differs =>
          throw ChangelogErrors.unsupportedOperator(
            varying(node.plan).fold(node.plan.nodeName)(_.sql),
            s"several statements read its values, and $reason",
            "compute it below one of them, or without state above it")
        case Some(reason) =>
          why += reason
          false
      }
    }
    val times = if (node.isPart) 1 else node.times
    node.children.foreach(child => nodes(child).times += times)
  }

  private def reader(plan: LogicalPlan, emit: WindowsEmit): LogicalPlan = plan match {
    case _ if !plan.isStreaming => plan
    case _ if isName(plan) => plan.mapChildren(reader(_, emit))
    case _ =>
      val key = keyOf(plan, emit)
      if (!nodes(key).isPart) plan.mapChildren(reader(_, emit))
      else {
        val (part, _) = parts.getOrElse(
          key, {
            val own = plan.mapChildren(reader(_, emit)) // adds the parts below
            val made = planner.plan(parts.size, own, emit, FindShared.varies(own))
            parts(key) = made
            made
          })
        SharedView(part, plan.output)
      }
  }
}

private[changelog] object FindShared {

  final case class Query(plan: LogicalPlan, emit: WindowsEmit)

  /** @param declined reasons why parts that several read are computed for each */
  final case class Found(
      parts: Seq[(SharedPart, LogicalPlan)],
      queries: Seq[LogicalPlan],
      declined: Seq[String])

  /** Reads a part of a query as operators. */
  trait Planner {

    /** Why it cannot be a part; none if it can. */
    def refusal(plan: LogicalPlan, emit: WindowsEmit, isBelowState: Boolean): Option[String]

    /** @param varies whether other values would come if it were computed again */
    def plan(
        id: Int,
        plan: LogicalPlan,
        emit: WindowsEmit,
        varies: Boolean): (SharedPart, LogicalPlan)
  }

  private def isStateless(plan: LogicalPlan): Boolean = plan match {
    case StatelessSource(_) => true
    case _ => false
  }

  /** Operators without state above ones that have it. */
  private def passes(plan: LogicalPlan): Boolean = plan match {
    case _: Project | _: Filter | _: Generate | _: Union => true
    case _ => false
  }

  private def varying(plan: LogicalPlan) = plan.expressions.find(!_.deterministic)

  /** Where values arise that differ each time. What is computed of them is the same each time. */
  private def varies(plan: LogicalPlan): Boolean = varying(plan).nonEmpty && isStateless(plan)

  /** Operators that are read as they are, whatever stands above them. */
  private def mayBeShared(plan: LogicalPlan): Boolean =
    !plan.exists(_.expressions.exists(RowKindFunction.isIn)) && (plan match {
      case _: Aggregate | _: Distinct | _: Union | _: GlobalLimit | _: Project | _: Filter |
          _: Generate => true
      // A filter above may have its keys.
      case join: Join => join.condition.nonEmpty
      case other => isStateless(other)
    })

  private def isWorth(plan: LogicalPlan): Boolean =
    !isStateless(plan) || plan.exists(isCostly) ||
      plan.collectLeaves().exists(leaf => leaf.isStreaming && !StreamFormats.isColumnar(leaf))

  /** Functions of users, and of JSON; values that may differ each time must be one for all. */
  private def isCostly(plan: LogicalPlan): Boolean = (plan match {
    case _: MapElements | _: MapPartitions | _: TypedFilter | _: MapInPandas | _: MapInArrow => true
    case _ => false
  }) || plan.expressions.exists(_.exists {
    case _: UserDefinedExpression | _: JsonToStructs | _: GetJsonObject => true
    case other => !other.deterministic
  })
}
