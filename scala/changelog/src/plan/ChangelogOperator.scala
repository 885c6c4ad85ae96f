package io.firesteel.changelog.plan

import io.firesteel.changelog.common.StateTypes
import io.firesteel.changelog.plan.ColumnFacts.{closed, mapKeys, normalOf, renamed, timeOf}
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, ExprId, Expression, Generator, NamedExpression, SortOrder}
import org.apache.spark.sql.catalyst.expressions.aggregate.{Count, First, Max, Min}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.firesteel.normalizeFloats
import org.apache.spark.sql.types.ArrayType

/** One operator of a query, as changelog inference sees it; nothing of its execution. */
private[plan] sealed trait ChangelogOperator extends ChangelogTraits {

  /** As errors and `explain` call it. */
  def name: String

  def inputs: Seq[ChangelogOperator]

  def output: Seq[Attribute]

  /** What holds of the result, whoever reads it; known from the moment that the operator is made. */
  final lazy val facts: Facts = {
    val below = inputs.map(_.facts)
    Facts(changes(below), upsertKeys(below), trends(below), eventTimes(below))
  }

  /** The columns that it computes or passes on, if that is all it does. */
  private[plan] def computed: Seq[NamedExpression] = Nil
}

/** What Spark plans by itself: rows come and stay. */
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
 * A source that says of each row whether it comes or goes. Whole rows go, and nothing says that the
 * two sides of an update come one after the other: they are a deletion and an insertion.
 *
 * @param op the column that tells it
 */
final private[plan] case class SourceChanges(op: Attribute, input: ChangelogOperator)
  extends ChangelogOperator {
  override def name: String = "from_changelog"
  override def inputs: Seq[ChangelogOperator] = Seq(input)
  override def output: Seq[Attribute] = input.output.filterNot(_.exprId == op.exprId)
  override def changes(inputs: Seq[Facts]): Changes = Changes(updates = false, deletes = true)
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set.empty
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] = Map.empty
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = Seq(false)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = false
}

/**
 * A source whose rows replace and delete others by their key (Flink: ChangelogNormalize). It keeps
 * each key's row, and gives the kinds that those above want, whichever the source has.
 *
 * @param sequence by which of two rows of a key the newer is told; none where it is the later
 * @param identity where there is a sequence, a hash of the row as the source has it: of two with one
 *   sequence it counts whether they are the same, also in columns that nothing reads
 */
final private[plan] case class Normalize(
    op: Attribute,
    keys: Seq[Attribute],
    sequence: Seq[Attribute],
    identity: Option[Attribute],
    ttlMs: Long,
    input: ChangelogOperator)
  extends ChangelogOperator
  with OneInput[ChangelogOperator]
  with Stateful {
  override def name: String = "Normalize"
  override def output: Seq[Attribute] = input.output.filterNot(_.exprId == op.exprId)
  def columns: Seq[Attribute] = output.filterNot(c => keys.exists(_.exprId == c.exprId))
  override def changes(inputs: Seq[Facts]): Changes = Changes.All
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set(keys.map(_.exprId).toSet)
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] = Map.empty
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
}

/**
 * Looks up each row in a table that is no stream, and keeps what it found: the table may have changed
 * when the row goes (Flink: non-deterministic update of a lookup join). A row's matches are those of
 * the table as it was when the row last changed.
 *
 * @param key what identifies a row of the input
 * @param streamKeys what of a row equals the table's keys
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

  /** All that belongs to a key; null where there is nothing. */
  val matches: Attribute =
    AttributeReference(
      "matches",
      ArrayType(table.element.dataType, containsNull = false))(matchesId)

  override def output: Seq[Attribute] = input.output :+ matches
  def columns: Seq[Attribute] = output.filterNot(c => key.exists(_.exprId == c.exprId))
  override def changes(inputs: Seq[Facts]): Changes =
    Changes(updates = true, deletes = inputs.head.changes.deletes)
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = inputs.head.upsertKeys
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] = closed(key, inputs.head)
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  // What a row replaces or deletes is found by its key.
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = Seq(false)
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
 * A filter. When what it asks lies within an upsert key, a row and its replacement pass or fail
 * together; else an update may pass on one side alone, and is then an insertion or a deletion, for
 * which both sides must be known.
 */
final private[changelog] case class Selection(condition: Expression, input: ChangelogOperator)
  extends ChangelogOperator
  with Forwarding[ChangelogOperator] {
  override def name: String = "Filter"
  override def output: Seq[Attribute] = input.output
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = inputs.head.upsertKeys
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = inputs.head.trends
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] = inputs.head.eventTimes

  /** Whether updates may pass on one side alone. */
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
 * `explode` and its like: as many rows as a row's value asks for. How many it was may be another
 * number after an update, so that old rows go and new ones come.
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

/** Grouping sets: a row for each of them, whose keys are null where they are not in the set. */
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
 * Groups and their aggregates; without keys one row that is there from the first micro-batch on.
 *
 * @param functions over columns of the input; `distinct` has one value for each of them
 */
final private[plan] case class GroupAggregate(
    keys: Seq[Attribute],
    functions: Seq[Expression],
    distinct: Seq[Boolean],
    results: Seq[Attribute],
    ttlMs: Long,
    input: ChangelogOperator)
  extends ChangelogOperator
  with OneInput[ChangelogOperator]
  with Stateful {
  override def name: String = "Aggregate"
  override def output: Seq[Attribute] = keys ++ results

  /** Keys of a collation by the results that show them: each the first of its group. */
  private def shownKeys: Map[ExprId, ExprId] = {
    val firsts = functions.zip(results).collect { case (AnyAggregate(first: First, None), result) =>
      first.child.references.toSeq.map(_.exprId) -> result.exprId
    }.toMap
    normalOf(keys, input.computed, StateTypes.normalForm).flatMap { case (key, own) =>
      firsts.get(Seq(own.exprId)).map(key -> _)
    }
  }

  // SELECT DISTINCT has no result that could change.
  override def changes(inputs: Seq[Facts]): Changes =
    Changes(
      updates = {
        val fixed =
          if (inputs.head.changes.insertOnly) shownKeys.values.toSet else Set.empty[ExprId]
        !results.forall(result => fixed(result.exprId))
      },
      deletes = keys.nonEmpty && !inputs.head.changes.insertOnly
    )
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = {
    val shown = if (inputs.head.changes.insertOnly) shownKeys else Map.empty[ExprId, ExprId]
    Set(keys.map(key => shown.getOrElse(key.exprId, key.exprId)).toSet)
  }
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] =
    // A group that has expired begins anew.
    if (!inputs.head.changes.insertOnly || ttlMs > 0) Map.empty
    else results.zip(functions).collect {
      case (result, _: Count | _: Max) => result.exprId -> Trend.Rising
      case (result, _: Min) => result.exprId -> Trend.Falling
    }.toMap
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] = closed(keys, inputs.head)
}

/**
 * The rows of each partition whose place in an order is from `from` to `to`.
 *
 * @param rank the column with the place, if something above reads it
 */
final private[plan] case class TopN(
    partition: Seq[Attribute],
    order: Seq[SortOrder],
    function: PlaceFunction,
    from: Long,
    to: Long,
    rank: Option[Attribute],
    ttlMs: Long,
    input: ChangelogOperator)
  extends ChangelogOperator
  with OneInput[ChangelogOperator]
  with Stateful {
  override def name: String = "TopN"
  override def output: Seq[Attribute] = input.output ++ rank

  private def normal = normalOf(partition, input.computed, normalizeFloats)

  /** The result's columns: all rows of a partition show its floats alike, by which an upsert finds them. */
  def shown: Seq[NamedExpression] = {
    val floats = normal.values.map(_.exprId).toSet
    output.map(c => if (floats(c.exprId)) Alias(normalizeFloats(c), c.name)(c.exprId) else c)
  }

  def places: Places = Places(function, from, to, shown = rank.nonEmpty)

  def strategy(input: Facts): TopNStrategy = TopNStrategy.of(function, partition, order, input)

  override def changes(inputs: Seq[Facts]): Changes = Changes(
    updates = places.byPlace,
    deletes = !places.byPlace || strategy(inputs.head) == TopNStrategy.Retract)

  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] =
    Seq(strategy(inputs.head) == TopNStrategy.Retract && inputs.head.changes.updates)

  // Changes of one row come from one task only while it stays in its partition.
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = {
    val shown = normal.filter { case (_, column) => output.exists(_.exprId == column.exprId) }
    val of = partition.map(p => shown.getOrElse(p.exprId, p).exprId).toSet
    if (!places.byPlace) inputs.head.upsertKeys.map(_ ++ of)
    else if (from == to) Set(of)
    else Set(of ++ rank.map(_.exprId))
  }

  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime] =
    closed(partition, inputs.head)
}

/** `row_kind()`: from here on, each change is a row that stays. */
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
