package io.firesteel.changelog.rules

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.lower.PartReader
import io.firesteel.changelog.plan.parse.WindowsEmit
import io.firesteel.changelog.plan.parse.conditions.SortBelow
import io.firesteel.changelog.plan.share.{SharedPart, SharedView}
import io.firesteel.changelog.sql.StateTtl
import io.firesteel.changelog.state.PlanVersion

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, AttributeSet, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan, Project, ResolvedHint}

/**
 * Finds what several queries compute, or one query several times, and what of it is worth a shared
 * part. Plans are the same if they are equal but for the ids of columns, as the copies of a view
 * are.
 *
 * A part is shared if it has state, if it calls functions that cost much or may give another value
 * each time, or if its source is no columnar file: reading such a file twice costs less than
 * keeping its rows.
 *
 * @param onlyState whether parts without state are not shared
 * @param version see [[PlanVersion]]
 * @param onlyKept whether the parts of the checkpoint are all but those of values that differ
 * @param kept the parts that the checkpoint has, by their keys: they stay parts, whoever still reads
 *   them
 * @param firstId the number of the first part
 */
final private[rules] class FindShared(
    queries: Seq[FindShared.Query],
    planner: FindShared.Planner,
    varying: Varying,
    onlyState: Boolean,
    version: Int,
    onlyKept: Boolean = false,
    kept: Map[String, Seq[FindShared.Kept]] = Map.empty,
    firstId: Int = 0) {
  import FindShared._
  import SharableNodes._

  /** A plan whatever its ids. Groups differ by when they are emitted, and state by its life. */
  private case class Key(plan: LogicalPlan, at: Option[Context])

  /**
   * What reading a plan depends on beside the plan.
   *
   * @param ttl the hint above it, in milliseconds
   */
  private case class Context(emit: WindowsEmit, ttl: Option[Long])

  private class Node(val key: Key, val plan: LogicalPlan, val at: Context) {
    var children: Seq[Key] = Nil
    var roots = 0 // queries that are the plan
    val by: mutable.BitSet = mutable.BitSet.empty // queries that have the plan
    var isBelowState = false
    var isBelowFilter = false
    var asksOrder = false // whether something that reads it depends on the order of its rows
    val read: mutable.BitSet = mutable.BitSet.empty // places of columns that something reads
    // The condition right above each place that reads it, over columns of `plan`.
    val asked: mutable.ArrayBuffer[Option[Expression]] = mutable.ArrayBuffer.empty
    var isPart = false
    var times = 0 // how often it is computed

    /** What it computes: the same text at each start. */
    lazy val text: String =
      PartReader.keyOf(
        withoutNames(plan),
        if (hasState(plan)) s"${at.emit} ${at.ttl.getOrElse("")}" else "")

    /** The plan below its hint. */
    def hinted(its: LogicalPlan): LogicalPlan = at.ttl.fold(its)(StateTtl(_, its))
  }

  private val nodes = mutable.LinkedHashMap.empty[Key, Node] // an input before its readers
  private val parts = mutable.LinkedHashMap.empty[Key, Planned]
  private val why = mutable.ArrayBuffer.empty[String]
  private val readsFiles = queries.exists(query => query.plan.exists(asksFile(_)))

  /** The shared parts with their plans, and the queries that read them. */
  def apply(): Found = {
    if (kept.nonEmpty) {
      look()
      readers = nodes.map { case (key, node) => key -> node.by.toSet }.toMap
      plansOf = nodes.values.toSeq.groupMapReduce(_.text)(_ => 1)(_ + _)
      nodes.clear()
    }
    look()
    requireOneValue()
    nodes.values.toSeq.reverse.foreach(decide)
    val reading = queries.map(query => reader(query.plan, Context(query.emit, None)))
    val found = parts.map { case (key, its) =>
      val node = nodes(key)
      Part(its.part, its.plan, its.reads, node.text, node.read.toSeq, node.by.toSeq)
    }
    Found(found.toSeq, reading, why.distinct.toSeq)
  }

  /**
   * The part that it was, if one of its queries read it as a part before. Plans that differ may
   * have one text, such as calls of two functions without a name: of these, the one that all of the
   * part's queries read.
   */
  private def partBefore(node: Node): Option[Kept] =
    if (kept.isEmpty) None
    else {
      val (parts, by) = (kept.getOrElse(node.text, Nil), readers(node.key))
      if (parts.size == 1 && plansOf(node.text) == 1) parts.find(_.readers.exists(by))
      else parts.find(_.readers == by)
    }

  // From a first look at all queries.
  private var readers = Map.empty[Key, Set[Int]]
  private var plansOf = Map.empty[String, Int]

  private def look(): Unit = {
    queries.zipWithIndex.foreach { case (query, i) =>
      val above = Above(
        i,
        query.plan.outputSet,
        isState = false,
        isFilter = false,
        asksOrder = false,
        asked = None)
      nodes(visit(query.plan, Context(query.emit, None), above)).roots += 1
    }
  }

  private def keyOf(plan: LogicalPlan, at: Context): Key =
    Key(withoutNames(plan).canonicalized, if (hasState(plan)) Some(at) else None)

  /**
   * What stands above a plan.
   *
   * @param query the number of the query
   * @param read the columns that it reads
   * @param asked the condition right above it
   */
  private case class Above(
      query: Int,
      read: AttributeSet,
      isState: Boolean,
      isFilter: Boolean,
      asksOrder: Boolean,
      asked: Option[Expression])

  private def visit(plan: LogicalPlan, at: Context, above: Above): Key = plan match {
    case hint: StateTtl => visit(hint.child, at.copy(ttl = Some(hint.ms)), above)
    case _ if isName(plan) =>
      val child = plan.children.head
      // A filter takes a join apart that stands right below it.
      val isFilter = above.isFilter && version < PlanVersion.impliedConditions
      val its = above.copy(
        read = ReadColumns(plan, child, above.read),
        isFilter = isFilter,
        asked = above.asked.map(overColumns(_, plan.output, child.output)))
      visit(child, at, its)
    case _ =>
      val key = keyOf(plan, at)
      val isNew = !nodes.contains(key)
      val known = nodes.getOrElse(key, new Node(key, plan, at))
      val places = plan.output.indices.filter(i => above.read.contains(plan.output(i)))
      val isMore = isNew || above.isState && !known.isBelowState ||
        above.asksOrder && !known.asksOrder || !places.forall(known.read) || !known.by(above.query)
      known.asked += above.asked.map(overColumns(_, plan.output, known.plan.output))
      known.isBelowState ||= above.isState
      known.isBelowFilter ||= above.isFilter
      known.asksOrder ||= above.asksOrder
      known.read ++= places
      known.by += above.query
      if (readers.nonEmpty) partBefore(known).foreach(known.read ++= _.columns)
      if (isMore) {
        val read = AttributeSet(known.read.toSeq.map(plan.output(_)))
        val children = inputs(plan).map { child =>
          visit(
            child,
            at,
            Above(
              above.query,
              ReadColumns(plan, child, read),
              known.isBelowState || isStateful(plan),
              plan.isInstanceOf[Filter],
              known.asksOrder && passesOrder(plan) || asksOrder(plan),
              plan match {
                case Filter(condition, _) => Some(condition)
                case _ => None
              }
            )
          )
        }
        if (isNew) {
          known.children = children
          nodes(key) = known
        }
      }
      key
  }

  /** Values that differ each time arise once: in one place, read in one way. */
  private def requireOneValue(): Unit = if (queries.size > 1) {
    val differing = nodes.values.filter(node => varying.isAt(node.plan)).toSeq
    val ways = differing.groupBy(node => withoutNames(node.plan).canonicalized)
    ways.values.find(_.size > 1).foreach { same =>
      throw otherValues(
        same.head.plan,
        "they are read in several output modes or with several hints")
    }
    differing.find(node => isWhole(node.plan)).foreach { whole =>
      if (queries.count(query => query.plan.exists(varying.isAt)) > 1) {
        throw otherValues(whole.plan, "they are below an operator that is read as a whole")
      }
    }
  }

  private def otherValues(plan: LogicalPlan, reason: String): Throwable =
    ChangelogErrors.unsupportedOperator(
      varying.of(plan).fold(plan.nodeName)(_.sql),
      s"several statements read its values, which differ each time, and $reason",
      "compute it in one of them")

  private def losesOrder(plan: LogicalPlan): Boolean =
    version >= PlanVersion.orderedParts && isOrdered(plan)

  private def losesOrderOfLimit(node: Node): Boolean = version >= PlanVersion.limitsOrder &&
    node.asksOrder && SortBelow.limited(node.plan).nonEmpty

  /** Readers come before their inputs, so their number is known. */
  private def decide(node: Node): Unit = {
    node.times += node.roots
    val plan = node.plan
    val (isRead, differs) =
      (
        node.times > 1,
        (version >= PlanVersion.valuesOfOne && !onlyState || queries.size > 1) && varying.isAt(
          plan))
    val isWorth = hasState(plan) || !onlyState && costs(plan)
    if (mayBeShared(
        plan,
        version) && !losesOrder(plan) && !losesOrderOfLimit(node) && !isTakenApart(
        node) && (isRead && isWorth && !onlyKept || differs)) {
      planner.refusal(node.hinted(plan), node.at.emit, node.isBelowState) match {
        case None => node.isPart = true
        case Some(reason) => why += reason
      }
    }
    if (partBefore(node).nonEmpty) node.isPart = true
    if (differs && !node.isPart && node.by.size > 1) {
      throw otherValues(plan, why.lastOption.getOrElse("it is no part by itself"))
    }
    val times = if (node.isPart) 1 else node.times
    node.children.foreach(child => nodes(child).times += times)
  }

  /** A filter above a join has keys of it; the file of a row is known where it is read. */
  private def isTakenApart(node: Node): Boolean = node.plan match {
    case _: Join => node.isBelowFilter
    case plan => readsFiles && !hasState(plan) && !plan.exists(asksFile(_))
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
      else {
        val places = plan.output.indices.filter(node.read)
        val planned = parts.getOrElse(
          key, {
            val own = below(plan, at) // adds the parts below
            val read =
              if (places.size == own.output.size) own else Project(places.map(own.output), own)
            val made = planner.plan(
              firstId + parts.size,
              node.hinted(read),
              at.emit,
              varying.isAt(plan),
              node.text,
              askedOf(node, own.output))
            parts(key) = made
            made
          }
        )
        whole(plan.output, planned.reader(places.map(plan.output)))
      }
  }

  /** The conditions of all who read a part, over its columns; empty if one has none. */
  private def askedOf(node: Node, columns: Seq[Attribute]): Seq[Expression] =
    if (node.asked.contains(None)) Nil
    else node.asked.toSeq.flatten.map(overColumns(_, node.plan.output, columns))

  private def overColumns(
      condition: Expression,
      from: Seq[Attribute],
      to: Seq[Attribute]): Expression = {
    val places = AttributeMap(from.zip(to))
    condition.transform { case column: Attribute => places.getOrElse(column, column) }
  }

  /** Columns that nothing reads are null. */
  private def whole(columns: Seq[Attribute], read: LogicalPlan): LogicalPlan =
    if (read.output.size == columns.size) read
    else Project(
      columns.map { column =>
        if (read.outputSet.contains(column)) column
        else Alias(Literal(null, column.dataType), column.name)(column.exprId)
      },
      read)

  private def below(plan: LogicalPlan, at: Context): LogicalPlan =
    if (isWhole(plan)) plan else plan.mapChildren(reader(_, at))
}

private[rules] object FindShared {

  /**
   * @param columns the places of the part's columns
   * @param readers the numbers of the queries that read it
   */
  final case class Kept(columns: Set[Int], readers: Set[Int])

  final case class Query(plan: LogicalPlan, emit: WindowsEmit)

  /** @param declined reasons why parts that several read are computed for each */
  final case class Found(
      parts: Seq[Part],
      queries: Seq[LogicalPlan],
      declined: Seq[String])

  /**
   * @param key of what it computes, the same at each start
   * @param columns the places of those of its columns that it keeps
   * @param readers the numbers of the queries that read it
   * @param reads what it reads of other parts, by their numbers
   */
  final case class Part(
      part: SharedPart,
      plan: LogicalPlan,
      reads: Map[Int, Seq[String]],
      key: String,
      columns: Seq[Int],
      readers: Seq[Int])

  /**
   * @param reads what it reads of other parts, by their numbers
   * @param reader what reads the part, with columns of its own for those of the part
   */
  final case class Planned(
      part: SharedPart,
      plan: LogicalPlan,
      reads: Map[Int, Seq[String]],
      reader: Seq[Attribute] => LogicalPlan)

  /** Reads a part of a query as operators. */
  trait Planner {

    /** Why it cannot be a part; none if it can. */
    def refusal(plan: LogicalPlan, emit: WindowsEmit, isBelowState: Boolean): Option[String]

    /**
     * @param varies whether other values would come if it were computed again
     * @param key of what it computes
     * @param readers the condition above each place that reads it; empty if one has none
     */
    def plan(
        id: Int,
        plan: LogicalPlan,
        emit: WindowsEmit,
        varies: Boolean,
        key: String,
        readers: Seq[Expression]): Planned
  }
}
