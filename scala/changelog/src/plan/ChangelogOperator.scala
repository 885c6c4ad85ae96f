package io.firesteel.changelog.plan

import io.firesteel.changelog.common.{StateTypes, WindowEnds}
import io.firesteel.changelog.plan.ColumnFacts.{closed, mapKeys, normalOf, renamed, timeOf}
import io.firesteel.changelog.plan.frames.{OverCall, OverFrameKind, Panes}
import io.firesteel.changelog.plan.share.SharedPart
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, AttributeSet, ExprId, Expression, ExpressionSet, Generator, NamedExpression, SortOrder}
import org.apache.spark.sql.catalyst.expressions.aggregate.{Count, First, Max, Min}
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, FullOuter, Inner, JoinType, LeftAnti, LeftSemi}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, Join, LeafNode, LogicalPlan, Project, UnaryNode, Union}
import org.apache.spark.sql.firesteel.normalizeFloats
import org.apache.spark.sql.types.ArrayType

/** One operator of a query for changelog inference. It knows nothing of its execution. */
private[changelog] sealed trait ChangelogOperator extends ChangelogTraits {

  /** The name in errors and in `explain`. */
  def name: String

  def inputs: Seq[ChangelogOperator]

  def output: Seq[Attribute]

  /**
   * Facts of the result that do not depend on its readers. They are known once the operator exists.
   */
  final lazy val facts: Facts = {
    val below = inputs.map(_.facts)
    Facts(changes(below), upsertKeys(below), trends(below), eventTimes(below))
  }

  /** The columns of a projection, computed or passed on; empty for other operators. */
  private[plan] def computed: Seq[NamedExpression] = Nil

  /** The same below conditions, which may stand between an operator and its keys. */
  private[plan] def computedBelow: Seq[NamedExpression] = computed
}

/** A part that Spark plans by itself. Its rows are insert-only. */
final private[changelog] case class Source(plan: LogicalPlan) extends ChangelogOperator {
  override def name: String = "Source"
  override def inputs: Seq[ChangelogOperator] = Nil
  override def output: Seq[Attribute] = plan.output
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] =
    output.filter(_.metadata.contains(EventTimeWatermark.delayKey))
      .map(column => column.exprId -> EventTime.ofSource(plan, column)).toMap
  override def changes(inputs: Seq[Facts]): Changes = Changes.InsertOnly
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set.empty
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = Nil
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = false
}

/**
 * Reads the changes of a part of the query that is computed once for all that read it.
 *
 * @param output the columns of the part in their order, with ids of the reader
 * @param told the facts of these columns
 * @param texts what these columns are in the part, for the checkpoint's records
 * @param asked what the part asks of rows of a source of changes without keys, which it passes on, for
 *   the records; none if it passes on no such rows
 */
final private[changelog] case class SharedChanges(
    part: SharedPart,
    output: Seq[Attribute],
    told: Facts,
    texts: Seq[String],
    asked: Option[Seq[String]])
  extends LeafNode {
  override def isStreaming: Boolean = true
}

/** [[SharedChanges]] as an operator. */
final private[changelog] case class SharedRows(read: SharedChanges) extends ChangelogOperator {
  override def name: String = "SharedView"
  override def inputs: Seq[ChangelogOperator] = Nil
  override def output: Seq[Attribute] = read.output
  override def changes(inputs: Seq[Facts]): Changes = read.told.changes
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = read.told.upsertKeys
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = read.told.trends
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] = Map.empty
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = Nil
  // A part tells every change, and a reader drops what it does not need.
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = wanted
}

/**
 * A table that is no stream, as an input whose rows all come in the first micro-batch. Later changes
 * of the table are not seen.
 */
final private[plan] case class StaticTable(plan: LogicalPlan) extends ChangelogOperator {
  override def name: String = "Table"
  override def inputs: Seq[ChangelogOperator] = Nil
  override def output: Seq[Attribute] = plan.output
  override def changes(inputs: Seq[Facts]): Changes = Changes.InsertOnly
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set.empty
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] = Map.empty
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = Nil
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = false
}

/**
 * A join of insert-only rows with a table that is no stream. Spark runs it without state, because no
 * row is ever retracted.
 *
 * @param output columns of the join that are read
 */
final private[plan] case class StatelessJoin(
    join: Join,
    output: Seq[Attribute],
    input: ChangelogOperator)
  extends ChangelogOperator
  with OneInput[ChangelogOperator] {
  override def name: String = s"${JoinOutput.name(join.joinType)} JOIN"
  override def changes(inputs: Seq[Facts]): Changes = Changes.InsertOnly
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = join.joinType match {
    case LeftSemi | LeftAnti | _: ExistenceJoin => inputs.head.upsertKeys
    case _ => Set.empty
  }
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] = inputs.head.eventTimes
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = Seq(false)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = false
}

/**
 * A source with a kind in each row, without keys. A retraction repeats the whole row. A source need
 * not emit the two sides of an update together, so they are a deletion and an insert.
 *
 * @param op the column with the kind
 * @param closes whether the watermark closes its times: changes of such rows are then late
 */
final private[plan] case class SourceChanges(
    op: Attribute,
    input: ChangelogOperator,
    closes: Boolean = false)
  extends ChangelogOperator {
  override def name: String = "from_changelog"
  override def inputs: Seq[ChangelogOperator] = Seq(input)
  override def output: Seq[Attribute] = input.output.filterNot(_.exprId == op.exprId)
  override def changes(inputs: Seq[Facts]): Changes = Changes(updates = false, deletes = true)
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set.empty
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] =
    if (closes) inputs.head.eventTimes else Map.empty
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = Seq(false)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = false
}

/**
 * A source whose rows replace and delete others by their key (Flink: ChangelogNormalize). It keeps
 * the row of each key, and emits the kinds that its readers need, whatever kinds the source has.
 *
 * @param sequence the columns that order the rows of a key; empty if rows count in the order of
 *   arrival
 * @param identity a hash of the whole source row, if there is a sequence: it decides whether two
 *   rows with equal sequences are the same row, including columns that nothing reads
 * @param closes whether the watermark closes its times: changes of such rows are then late
 * @param unread columns of the result that nothing above reads
 */
final private[plan] case class Normalize(
    op: Attribute,
    keys: Seq[Attribute],
    sequence: Seq[Attribute],
    identity: Option[Attribute],
    ttlMs: Long,
    input: ChangelogOperator,
    closes: Boolean = false,
    unread: Set[ExprId] = Set.empty)
  extends ChangelogOperator
  with OneInput[ChangelogOperator]
  with Stateful {
  override def name: String = "Normalize"
  override def output: Seq[Attribute] = input.output.filterNot(_.exprId == op.exprId)
  def columns: Seq[Attribute] = output.filterNot(c => keys.exists(_.exprId == c.exprId))
  override def changes(inputs: Seq[Facts]): Changes = Changes.All
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set(keys.map(_.exprId).toSet)
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] =
    if (!closes) Map.empty
    else inputs.head.eventTimes.map { case (id, time) =>
      id -> time.copy(moves = !keys.exists(_.exprId == id))
    }
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
}

/**
 * Joins each row with a table that is no stream, and keeps the matches: the table may have changed
 * when the row is retracted (Flink: non-deterministic update of a lookup join). The matches of a
 * row are from the table at the time when the row last changed.
 *
 * @param key the columns that identify a row of the input
 * @param streamKeys expressions over the input that must equal the table's keys
 */
final private[plan] case class TableJoin(
    key: Seq[Attribute],
    streamKeys: Seq[Expression],
    table: JoinedTable,
    matchesId: ExprId,
    ttlMs: Long,
    input: ChangelogOperator)
  extends ChangelogOperator
  with OneInput[ChangelogOperator]
  with Stateful {
  override def name: String = if (table.isInstanceOf[JoinedTable.Values]) "Subquery" else "Join"

  /** All matches of a key; null if there is none. */
  val matches: Attribute =
    AttributeReference(
      "matches",
      ArrayType(table.element.dataType, containsNull = false))(matchesId)

  override def output: Seq[Attribute] = input.output :+ matches
  def columns: Seq[Attribute] = output.filterNot(c => key.exists(_.exprId == c.exprId))
  override def changes(inputs: Seq[Facts]): Changes =
    Changes(updates = true, deletes = inputs.head.changes.deletes)
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = inputs.head.upsertKeys

  /** Keys by which no row is late: a late change of a row is still one of what it was joined with. */
  def timely: Seq[Attribute] = key.filterNot(column => isLate(column, input.facts))

  private def isLate(column: Attribute, of: Facts) =
    of.eventTimes.get(column.exprId).exists(_.mayBeLate)

  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] =
    closed(timely, inputs.head) ++ key.filter(isLate(_, inputs.head)).map(column =>
      column.exprId -> inputs.head.eventTimes(column.exprId))
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  // The operator finds the replaced or deleted row by its key.
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = Seq(false)
}

/**
 * A join of two streams (Flink: regular join). State keeps the rows of both sides, so a row meets
 * the rows of the other side that came before it and those that come after it.
 *
 * @param joinType `Inner`, `LeftOuter`, `FullOuter`, `LeftSemi`, `LeftAnti` or `ExistenceJoin`
 * @param leftKeys columns whose bytes must equal those of `rightKeys`; none if every row of one side
 *   meets every row of the other
 * @param matchesNulls for each pair of keys, whether null equals null (`<=>`)
 * @param condition what else must hold of both rows
 * @param ttls the time to live of the left and of the right side's rows
 * @param isSnapshot whether left rows meet the right rows of their micro-batch and are not kept
 * @param bounds of the left and the right side's times, in an interval join: late rows are dropped,
 *   and the watermark takes rows out of state
 * @param unread columns of the result that nothing above reads
 * @param isMulti whether a hint asks that it be one with the join of its left side
 */
final private[changelog] case class StreamJoin(
    joinType: JoinType,
    leftKeys: Seq[Attribute],
    rightKeys: Seq[Attribute],
    matchesNulls: Seq[Boolean],
    condition: Option[Expression],
    ttls: Seq[Long],
    left: ChangelogOperator,
    right: ChangelogOperator,
    isSnapshot: Boolean = false,
    bounds: Option[(TimeBound, TimeBound)] = None,
    unread: Set[ExprId] = Set.empty,
    isMulti: Boolean = false)
  extends ChangelogOperator
  with Stateful {
  override def name: String =
    s"${JoinOutput.name(joinType)} JOIN" + (if (isSnapshot) " SNAPSHOT" else "")
  override def inputs: Seq[ChangelogOperator] = Seq(left, right)
  override def ttlMs: Long = ttls.max
  override def output: Seq[Attribute] = JoinOutput(joinType, left.output, right.output)

  /** By how much the result is older than the watermark: as long as a row waits for its last match. */
  def heldBackMicros: Long = bounds.toSeq.flatMap { case (l, r) => Seq(l, r) }
    .flatMap(_.reach).maxOption.getOrElse(0L).max(0L)

  private def sides(inputs: Seq[Facts]) = (
    JoinSideFacts(inputs.head, leftKeys, left.computed),
    JoinSideFacts(inputs.last, rightKeys, right.computed))

  /** For each side, whether a key has at most one row. */
  lazy val single: Seq[Boolean] = {
    val (l, r) = sides(inputs.map(_.facts))
    Seq(l.isSingle, r.isSingle)
  }

  /** Whether the left and the right side's rows without a match are in the result. */
  def preserved: Seq[Boolean] =
    Seq(joinType != Inner && joinType != LeftSemi, joinType == FullOuter)

  // Rows that match nothing, because of a null in their key, are not in state.
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = {
    val (l, r) = sides(inputs)
    Seq(l, r).zip(preserved).map { case (side, isPreserved) =>
      val passesNulls = isPreserved &&
        side.keys.zip(matchesNulls).exists { case (key, matches) => key.nullable && !matches }
      side.facts.changes.updates && (!side.replaces || passesNulls)
    }
  }

  /** The column that says whether a left row has a match, if the join is a value. */
  def exists: Option[Attribute] = joinType match {
    case join: ExistenceJoin => Some(join.exists)
    case _ => None
  }

  /** Whether the number of a left row's matches decides what the result has of it. */
  def keepsLeftAlone: Boolean = joinType != Inner

  /** The columns by which a deletion and an insert become an update; none if nothing does. */
  lazy val pairedBy: Option[Seq[Attribute]] = if (isSnapshot) None
  else {
    val (l, r) = sides(inputs.map(_.facts))
    JoinTraits.pairedBy(joinType, l, r).map(key => output.filter(c => key(c.exprId)))
  }

  /**
   * Whether the left side's rows may be spread over tasks although there is no key, because the
   * right side has one row at most. Changes of a row must reach one task, whatever upsert key the
   * result is read by, so there may be one only; and its values must be equal as bytes.
   */
  lazy val isInSlots: Boolean =
    !isSnapshot && bounds.isEmpty && leftKeys.isEmpty && ttlMs == 0L && !preserved.last &&
      single == Seq(false, true) && left.facts.upsertKeys.size <= 1 && leftIdentity.nonEmpty &&
      leftIdentity.forall(column => StateTypes.comparesAsBytes(column.dataType))

  /** Columns that are the same in all changes of a row of the left side. */
  lazy val leftIdentity: Seq[Attribute] = {
    sides(inputs.map(_.facts))._1.identity
      .fold(left.output)(key => left.output.filter(c => key(c.exprId)))
  }

  override def changes(inputs: Seq[Facts]): Changes = {
    val (l, r) = sides(inputs)
    if (isSnapshot) Changes.InsertOnly
    else JoinTraits.changes(joinType, l, r, isWhole = condition.isEmpty && ttlMs == 0)
  }
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = {
    val (l, r) = sides(inputs)
    if (isSnapshot) Set.empty else JoinTraits.upsertKeys(joinType, l, r)
  }

  /** Without a bound a row may still be joined, however old it is. */
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] =
    if (isSnapshot) inputs.head.eventTimes
    else bounds.toSeq.flatMap { case (l, r) => Seq(l, r) }.zip(inputs).collect {
      case (bound, side) if bound.reach.nonEmpty && output.exists(_.exprId == bound.time.exprId) =>
        bound.time.exprId -> side.eventTimes(bound.time.exprId).afterLate
    }.toMap
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
}

final private[changelog] case class Projection(
    columns: Seq[NamedExpression],
    input: ChangelogOperator)
  extends ChangelogOperator
  with Forwarding[ChangelogOperator] {
  override def name: String = "Project"
  override private[plan] def computed: Seq[NamedExpression] = columns
  override def output: Seq[Attribute] = columns.map(_.toAttribute)
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] =
    mapKeys(columns, inputs.head.upsertKeys)
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = renamed(columns).flatMap {
    case (from, to) => inputs.head.trends.get(from).map(to -> _)
  }.toMap
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] = columns.flatMap {
    case alias: Alias =>
      timeOf(alias, Seq(alias.child), inputs.head.eventTimes).map(alias.exprId -> _)
    case column => inputs.head.eventTimes.get(column.exprId).map(column.exprId -> _)
  }.toMap
}

/**
 * A filter. If its condition reads only columns of an upsert key, both sides of an update pass or
 * fail together. Otherwise one side alone may pass, as an insert or a deletion, so the filter needs
 * both sides.
 */
final private[changelog] case class Selection(condition: Expression, input: ChangelogOperator)
  extends ChangelogOperator
  with Forwarding[ChangelogOperator] {
  override def name: String = "Filter"
  override private[plan] def computedBelow: Seq[NamedExpression] = input.computedBelow
  override def output: Seq[Attribute] = input.output
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = inputs.head.upsertKeys
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = inputs.head.trends
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] = inputs.head.eventTimes

  /** Whether one side of an update may pass alone. */
  def splitsUpdates(input: Facts): Boolean = input.changes.updates && {
    val asked = condition.references.map(_.exprId).toSet
    !input.upsertKeys.exists(asked.subsetOf)
  }

  override def changes(inputs: Seq[Facts]): Changes =
    if (splitsUpdates(inputs.head)) Changes.All else inputs.head.changes

  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] =
    Seq(wanted || splitsUpdates(inputs.head))
}

/**
 * `explode` and similar functions. The number of rows may differ after an update, so updates become
 * deletions and inserts.
 */
final private[plan] case class Generation(
    generator: Generator,
    outer: Boolean,
    made: Seq[Attribute],
    input: ChangelogOperator)
  extends ChangelogOperator
  with Multiplying[ChangelogOperator] {
  override def name: String = "Generate"
  override def output: Seq[Attribute] = input.output ++ made
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] = inputs.head.eventTimes
}

/** Grouping sets: one row for each set, with nulls for keys outside the set. */
final private[plan] case class Expansion(
    projections: Seq[Seq[Expression]],
    output: Seq[Attribute],
    input: ChangelogOperator)
  extends ChangelogOperator
  with Multiplying[ChangelogOperator] {
  override def name: String = "Expand"
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] =
    output.indices.flatMap { i =>
      timeOf(output(i), projections.map(_(i)), inputs.head.eventTimes).map(output(i).exprId -> _)
    }.toMap
}

final private[plan] case class UnionAll(inputs: Seq[ChangelogOperator], output: Seq[Attribute])
  extends ChangelogOperator {
  override def name: String = "Union"
  override def changes(inputs: Seq[Facts]): Changes = inputs.map(_.changes).reduce(_ | _)
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set.empty
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def eventTimes(facts: Seq[Facts]): Map[ExprId, EventTime] = output.zipWithIndex.flatMap {
    case (column, at) =>
      val times = inputs.zip(facts).map { case (input, its) =>
        its.eventTimes.get(input.output(at).exprId)
      }
      if (times.exists(_.isEmpty)) None else Some(column.exprId -> times.flatten.reduce(_ | _))
  }.toMap
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = inputs.map(_ => wanted)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = fromInputs.contains(true)
}

/**
 * Groups and their aggregates. Without keys there is one row from the first micro-batch on.
 *
 * @param functions calls over columns of the input; `distinct` has one value for each call
 * @param once a key, the end of a window: groups are emitted once, when the watermark has reached it
 * @param ends when such windows end, if it is known
 * @param panes the windows, if the last key is a pane
 * @param closedBy a result, the end of a session: a group leaves state once the watermark has reached
 *   it, or `closedAfter` microseconds later. The input retracts no row of such a session.
 * @param gap the gap of sessions in microseconds, if the last key is the time of a row, and `closedBy`
 *   the latest time and the gap: rows whose sessions touch are a group, whose key is the first time.
 *   A group is emitted once, when the watermark has reached its end
 */
final private[changelog] case class GroupAggregate(
    keys: Seq[Attribute],
    functions: Seq[Expression],
    distinct: Seq[Boolean],
    results: Seq[Attribute],
    ttlMs: Long,
    input: ChangelogOperator,
    once: Option[Attribute] = None,
    panes: Option[Panes] = None,
    closedBy: Option[Attribute] = None,
    gap: Option[Long] = None,
    ends: Option[WindowEnds] = None,
    closedAfter: Long = 0L)
  extends ChangelogOperator
  with OneInput[ChangelogOperator]
  with Stateful {
  override def name: String = "Aggregate"
  override def output: Seq[Attribute] =
    panes.fold(keys ++ results)(_.output(keys, results))

  /** Whether each row of the result is emitted once. */
  def emitsOnce: Boolean = once.nonEmpty || gap.nonEmpty || panes.exists(_.atClose)

  /** The keys by which rows are distributed. */
  def placedBy: Seq[Attribute] = if (panes.isEmpty && gap.isEmpty) keys else keys.init

  /** Keys of a collation, with the result that shows the first string of the group. */
  private def shownKeys: Map[ExprId, ExprId] = {
    val firsts = functions.zip(results).collect { case (AnyAggregate(first: First, None), result) =>
      first.child.references.toSeq.map(_.exprId) -> result.exprId
    }.toMap
    normalOf(keys, input.computedBelow, StateTypes.normalForm).flatMap { case (key, own) =>
      firsts.get(Seq(own.exprId)).map(key -> _)
    }
  }

  // SELECT DISTINCT has no results, so it emits no updates.
  override def changes(inputs: Seq[Facts]): Changes =
    if (emitsOnce) Changes.InsertOnly
    else Changes(
      updates = {
        val fixed =
          if (inputs.head.changes.insertOnly) shownKeys.values.toSet else Set.empty[ExprId]
        !results.forall(result => fixed(result.exprId))
      },
      deletes = keys.nonEmpty && !inputs.head.changes.insertOnly
    )

  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = {
    val shown = if (inputs.head.changes.insertOnly) shownKeys else Map.empty[ExprId, ExprId]
    val ofWindows = panes.fold(Seq(keys.drop(placedBy.size)))(_.keys)
    ofWindows.map { its =>
      (placedBy ++ its).map(key => shown.getOrElse(key.exprId, key.exprId)).toSet
    }.toSet
  }
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] =
    // After its state expired a group starts again, so its results may fall.
    if (!inputs.head.changes.insertOnly || ttlMs > 0 || emitsOnce) Map.empty
    else results.zip(functions).collect {
      case (result, _: Count | _: Max) => result.exprId -> Trend.Rising
      case (result, _: Min) => result.exprId -> Trend.Falling
    }.toMap
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] =
    panes match {
      case Some(its) if its.isMarked =>
        its.closing.map { case (id, after) => id -> EventTime(None, after, mayBeLate = false) }
      case Some(_) => Map.empty
      case None if gap.nonEmpty => Map.empty
      case None => closed(keys, inputs.head).filter { case (key, _) =>
          // Another time may be over when the groups are emitted.
          !once.exists(time => inputs.head.eventTimes.contains(time.exprId) && time.exprId != key)
        }
    }
}

/**
 * The rows of each partition from place `from` to place `to` of an order.
 *
 * @param rank the column with the place, if something above reads it
 * @param once the column of the partition with the end of a window, if the rows wait until the
 *   watermark closes it
 * @param ends when such windows end, if it is known
 */
final private[plan] case class TopN(
    partition: Seq[Attribute],
    order: Seq[SortOrder],
    function: PlaceFunction,
    from: Long,
    to: Long,
    rank: Option[Attribute],
    ttlMs: Long,
    input: ChangelogOperator,
    once: Option[Attribute] = None,
    ends: Option[WindowEnds] = None)
  extends ChangelogOperator
  with OneInput[ChangelogOperator]
  with Stateful {
  override def name: String = "TopN"
  override def output: Seq[Attribute] = input.output ++ rank

  private def normal = normalOf(partition, input.computedBelow, normalizeFloats)

  /**
   * The result's columns. All rows of a partition show the same float, so that an upsert finds
   * them.
   */
  def shown: Seq[NamedExpression] = {
    val floats = normal.values.map(_.exprId).toSet
    output.map(c => if (floats(c.exprId)) Alias(normalizeFloats(c), c.name)(c.exprId) else c)
  }

  def places: Places = Places(function, from, to, shown = rank.nonEmpty)

  def strategy(input: Facts): TopNStrategy = TopNStrategy.of(function, partition, order, input)

  override def changes(inputs: Seq[Facts]): Changes =
    if (once.nonEmpty) Changes.InsertOnly
    else Changes(
      updates = places.byPlace,
      deletes = !places.byPlace || strategy(inputs.head) == TopNStrategy.Retract)

  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] =
    Seq(strategy(inputs.head) == TopNStrategy.Retract && inputs.head.changes.updates)

  // Changes of one row stay in one task only while the row stays in its partition.
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = {
    val shown = normal.filter { case (_, column) => output.exists(_.exprId == column.exprId) }
    val of = partition.map(p => shown.getOrElse(p.exprId, p).exprId).toSet
    if (once.nonEmpty) Set.empty
    else if (!places.byPlace) inputs.head.upsertKeys.map(_ ++ of)
    else if (from == to) Set(of)
    else Set(of ++ rank.map(_.exprId))
  }

  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] =
    if (once.nonEmpty) Map.empty else closed(partition, inputs.head)
}

/**
 * Functions over the rows around each row, in the order of its partition (Flink: OverAggregate).
 *
 * @param frames what a change can affect
 * @param asked columns that functions of the window read, also those of other operators
 * @param apart results of operators below that have other functions of the window: rows that tie
 *   are in one order for all functions, so it must not depend on them
 * @param sessionEnd the end of each row's own session, if the watermark closes sessions: the rows of
 *   closed ones leave, and rows whose own session is over are late
 * @param sessionStays whether rows of a session stay for a gap after its end, as a row that is not
 *   late may join it
 * @param copyNumber a further result, the number of a row among equal ones, for an operator above
 *   whose functions must see them in the same order
 * @param numberedBy that column, of the operator below
 */
final private[plan] case class OverAggregate(
    partition: Seq[Attribute],
    order: Seq[SortOrder],
    calls: Seq[OverCall],
    results: Seq[Attribute],
    frames: OverFrameKind,
    asked: Seq[Attribute],
    apart: Seq[Attribute],
    ttlMs: Long,
    input: ChangelogOperator,
    sessionEnd: Option[Attribute] = None,
    sessionStays: Boolean = false,
    copyNumber: Option[Attribute] = None,
    numberedBy: Option[Attribute] = None)
  extends ChangelogOperator
  with OneInput[ChangelogOperator]
  with Stateful {
  override def name: String = "OverAggregate"
  override def output: Seq[Attribute] = input.output ++ results ++ copyNumber

  /** The columns by which a deletion and an insert become an update; none if nothing does. */
  def pairedBy(input: Facts): Option[Set[ExprId]] = ColumnFacts.smallest(input.upsertKeys)
    .map(_ ++ partition.map(_.exprId))

  // A row stays in its partition if its key contains the partition.
  override def changes(inputs: Seq[Facts]): Changes = {
    val key = ColumnFacts.smallest(inputs.head.upsertKeys)
    val stays = key.exists(own => partition.forall(column => own(column.exprId)))
    Changes(updates = key.nonEmpty, deletes = inputs.head.changes.deletes || !stays)
  }
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = pairedBy(inputs.head).toSet
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] =
    closed(partition, inputs.head)
}

/**
 * Rows with their windows that wait until the watermark closes the window.
 *
 * @param by columns, the window's end among them, by whose hash the waiting rows are distributed:
 *   those by which the reader distributes them
 */
final private[changelog] case class HeldRows(
    by: Seq[Attribute],
    end: Attribute,
    ends: Option[WindowEnds],
    input: ChangelogOperator)
  extends ChangelogOperator
  with OneInput[ChangelogOperator]
  with Stateful {
  override def name: String = "WindowRows"
  override def ttlMs: Long = 0L
  override def output: Seq[Attribute] = input.output
  override def changes(inputs: Seq[Facts]): Changes = Changes.InsertOnly
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set.empty
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] = Map.empty
}

/**
 * Rows that wait until the watermark closes their session.
 *
 * @param keys what the rows of a session have in common
 * @param time the row's time, `start` the session's first one, and `end` its last one and the gap;
 *   all, as `gap`, in microseconds
 */
final private[changelog] case class HeldSessions(
    keys: Seq[Attribute],
    time: Attribute,
    gap: Long,
    start: Attribute,
    end: Attribute,
    input: ChangelogOperator)
  extends ChangelogOperator
  with OneInput[ChangelogOperator]
  with Stateful {
  override def name: String = "SessionRows"
  override def ttlMs: Long = 0L
  override def output: Seq[Attribute] = input.output ++ Seq(start, end)
  override def changes(inputs: Seq[Facts]): Changes = Changes.InsertOnly
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set.empty
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] = Map.empty
}

/**
 * Operators over closed windows. All rows of a window come in one micro-batch, so Spark's own
 * operators for batch compute what the query asks of a window, and keep nothing.
 *
 * @param plan over leaves of [[WindowedInput]], one or several for each input
 * @param times the ends of windows among its columns, and their last microseconds, which are one
 *   before the end: microseconds from each to the time when the watermark closes the window
 */
final private[changelog] case class ClosedWindows(
    plan: LogicalPlan,
    times: Map[Attribute, Long],
    inputs: Seq[ChangelogOperator])
  extends ChangelogOperator {
  override def name: String = "Windows"
  override def output: Seq[Attribute] = plan.output
  override def changes(inputs: Seq[Facts]): Changes = Changes.InsertOnly
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set.empty
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] =
    times.map { case (column, after) =>
      column.exprId -> EventTime(None, after, mayBeLate = false)
    }
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = inputs.map(_ => false)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = false

  /** The same with only these columns. */
  def only(read: AttributeSet): ClosedWindows = {
    // A union reads all columns of its inputs, by their places.
    val byPlace = plan.collect { case union: Union => union.children.flatMap(_.output) }.flatten
    val asked = read ++ AttributeSet(byPlace) ++
      AttributeSet.fromAttributeSets(plan.collect { case n => n.references })
    val narrow = plan.transformUp { case leaf: WindowedInput =>
      val (output, of) = leaf.output.zip(leaf.of).filter(its => asked.contains(its._1)).unzip
      leaf.copy(output = output, of = of)
    }
    copy(Project(plan.output.filter(read.contains), narrow))
  }

  /** The columns of an input that its leaves read. */
  def columnsOf(number: Int): Seq[Attribute] =
    plan.collect { case leaf: WindowedInput if leaf.number == number => leaf.of }
      .flatten.distinctBy(_.exprId)
}

/**
 * An event-time temporal join: each left row with the version of its key that was valid at the
 * row's time. A left row waits until the watermark has reached its time; then no version up to it
 * is still to come. Until then it may be retracted. The right side is the versions' history, whose
 * rows only come.
 *
 * @param joinType `Inner` or `LeftOuter`
 * @param order of the versions of a key, the newest first; the first column is `rightTime`
 * @param deleted a column that says whether a version ends the key, if versions do
 * @param condition what else must hold of both rows
 */
final private[changelog] case class TemporalJoin(
    joinType: JoinType,
    leftKeys: Seq[Attribute],
    rightKeys: Seq[Attribute],
    leftTime: Attribute,
    rightTime: Attribute,
    order: Seq[SortOrder],
    deleted: Option[Attribute],
    condition: Option[Expression],
    left: ChangelogOperator,
    right: ChangelogOperator)
  extends ChangelogOperator
  with Stateful {
  override def name: String = "TEMPORAL JOIN"
  override def ttlMs: Long = 0L
  override def inputs: Seq[ChangelogOperator] = Seq(left, right)
  override def output: Seq[Attribute] = JoinOutput(joinType, left.output, right.output)
  override def changes(inputs: Seq[Facts]): Changes = Changes.InsertOnly
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set.empty
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] =
    Map(leftTime.exprId -> EventTime(None, closesAfter(inputs), mayBeLate = false))

  /** Microseconds from the value of the left time to when the watermark closes it. */
  def closesAfter(inputs: Seq[Facts]): Long =
    inputs.head.eventTimes.get(leftTime.exprId).fold(0L)(_.after)
}

/** A table that is no stream, in the plan of [[ClosedWindows]]. */
final private[changelog] case class TableRows(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override lazy val validConstraints: ExpressionSet = ExpressionSet()
  override def maxRows: Option[Long] = None
  override protected def withNewChildInternal(newChild: LogicalPlan): TableRows =
    copy(child = newChild)
}

/**
 * The place of an input in the plan of [[ClosedWindows]].
 *
 * @param of the columns of the input that it has. Where several leaves read an input, they have names
 *   of their own for them
 */
final private[changelog] case class WindowedInput(
    number: Int,
    output: Seq[Attribute],
    of: Seq[Attribute])
  extends LeafNode {
  override def producedAttributes: AttributeSet = outputSet ++ AttributeSet(of)
}

/** `row_kind()`: above it each change is an insert-only row. */
final private[changelog] case class ChangeEvents(
    columns: Seq[NamedExpression],
    updateBefore: Boolean,
    input: ChangelogOperator)
  extends ChangelogOperator {
  override def name: String = "row_kind()"
  override def inputs: Seq[ChangelogOperator] = Seq(input)
  override def output: Seq[Attribute] = columns.map(_.toAttribute)
  override def changes(inputs: Seq[Facts]): Changes = Changes.InsertOnly
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set.empty
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] = Map.empty
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = Seq(updateBefore)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = false
}
