package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.common.{StateTypes, WindowEnds}
import io.firesteel.changelog.fold.BoundColumns
import io.firesteel.changelog.plan.{ChangeEvents, ChangelogOperator, ClosedWindows, ColumnFacts, Expansion, Generation, GroupAggregate, HeldRows, HeldSessions, Inferred, Normalize, OverAggregate, Projection, Selection, SharedChanges, SharedRows, Source, SourceChanges, StatelessJoin, StaticTable, StreamJoin, TableJoin, TemporalJoin, TopN, TopNStrategy, UnionAll, WindowedInput}
import io.firesteel.changelog.plan.frames.{OverFrameKind, OverReach}
import io.firesteel.changelog.plan.share.{SharedPart, SharedPlans, SharedView}
import io.firesteel.changelog.sql.{RowKindFunction, SourceKinds}
import io.firesteel.changelog.state.{BegunPlan, ChangelogContract, MemberRecord, Placement, PlanChoices, TimeToLive, Watermark, WholeKey}
import io.firesteel.core.changes.RowKind
import io.firesteel.core.expressions.Apart
import io.firesteel.core.windows.PaneWindows

import java.util.IdentityHashMap

import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, BoundReference, EqualTo, Expression, If, IsNotNull, Literal, NamedExpression, Not, Or, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Expand, Filter, Generate, Join, LogicalPlan, Project, Union}

/**
 * Writes operators as a logical plan, of Spark's own nodes where possible.
 *
 * @param closes whether the watermark closes groups and drops late rows
 * @param members the records of operators with state for the checkpoint
 * @param placed where operators with state lie; empty if every operator has its own shuffles
 * @param begun how the query began
 */
final private[changelog] class LowerOperators(
    closes: Boolean,
    members: IdentityHashMap[ChangelogOperator, MemberRecord],
    placed: IdentityHashMap[ChangelogOperator, Placed],
    begun: BegunPlan)
  extends PredicateHelper {
  import LowerOperators._

  private val choices = begun.choices

  def apply(inferred: Inferred): Written = {
    val inputs = inferred.inputs.map(apply)
    inferred.operator match {
      case Source(plan) => Written(plan, None)
      case StaticTable(plan) => Written(ReadOnce(plan), None)
      case SharedRows(read) => shared(read, inferred)
      case StatelessJoin(join, output, _) => Written(Project(output, over(join, inputs.head)), None)
      case changes: SourceChanges => source(changes, inputs.head)
      case normalize: Normalize => this.normalize(normalize, inferred, inputs.head)
      case join: TableJoin => tableJoin(join, inferred, inputs.head)
      case join: StreamJoin => LowerJoin(join, inferred, inputs, members.get(join), placeOf(join))
      case Projection(columns, _) => project(columns, inputs.head)
      case selection: Selection =>
        filter(
          selection.condition,
          inputs.head,
          selection.splitsUpdates(inferred.inputs.head.facts))
      case generation: Generation => generate(generation, inputs.head)
      case expansion: Expansion => expand(expansion, inputs.head)
      case union: UnionAll => this.union(union, inputs)
      case events: ChangeEvents => this.events(events, inferred.inputs.head, inputs.head)
      case aggregate: GroupAggregate => this.aggregate(aggregate, inferred, inputs.head)
      case topN: TopN => this.topN(topN, inferred, inputs.head)
      case over: OverAggregate => this.over(over, inferred, inputs.head)
      case held: HeldRows => this.held(held, inferred, inputs.head)
      case held: HeldSessions => this.held(held, inferred, inputs.head)
      case join: TemporalJoin => temporal(join, inferred, inputs)
      case windows: ClosedWindows => this.windows(windows, inputs)
    }
  }

  private def above(plan: LogicalPlan, condition: Expression): Expression =
    ConstantConditions.above(plan, condition, begun.version)

  private def over(join: Join, stream: Written): LogicalPlan = {
    val condition = join.condition.map(above(stream.plan, _))
    if (join.left.isStreaming) join.copy(left = stream.plan, condition = condition)
    else join.copy(right = stream.plan, condition = condition)
  }

  /** An input that the plan reads several times is a part: it is computed once. */
  private def windows(windows: ClosedWindows, inputs: Seq[Written]): Written = {
    val leaves = windows.plan.collect { case leaf: WindowedInput => leaf.number }
    val parts = leaves.distinct.filter(number => leaves.count(_ == number) > 1).map { number =>
      val columns = windows.columnsOf(number)
      val part = new SharedPart(number, "Windows", kind = None)
      number -> (part, columns, Project(columns, inputs(number).plan))
    }
    val shared = parts.toMap
    val plan = ConstantConditions.kept(windows.plan).transformUp { case leaf: WindowedInput =>
      BatchRows(shared.get(leaf.number).fold(Project(leaf.output, inputs(leaf.number).plan)) {
        case (part, columns, _) =>
          val own = columns.map(_.newInstance())
          val names = columns.map(_.exprId).zip(own).toMap
          // Two columns of a leaf may be one of the part.
          val shown = leaf.output.zip(leaf.of).map { case (column, of) =>
            Alias(names(of.exprId), column.name)(column.exprId)
          }
          Project(shown, SharedView(part, own))
      })
    }
    Written(
      if (parts.isEmpty) StreamRows(plan)
      else {
        val (own, plans) = parts.map { case (_, (part, _, rows)) => (part, rows) }.unzip
        SharedPlans(own, plans :+ StreamRows(plan))
      },
      None
    )
  }

  /** The kinds get ids of their own, because several readers may meet in an operator. */
  private def shared(read: SharedChanges, inferred: Inferred): Written = {
    val kind = read.part.kind.map(_.newInstance())
    val plan = SharedView(read.part, read.output ++ kind)
    Written(
      kind.filterNot(_ => inferred.updateBefore || !inferred.changes.updates)
        .fold[LogicalPlan](plan)(withoutBefore(plan, _)),
      kind)
  }

  private def source(changes: SourceChanges, input: Written): Written = {
    val kind = Alias(SourceKinds.read(changes.op, keyed = false), "row_kind")()
    Written(Project(changes.output :+ kind, input.plan), Some(kind.toAttribute))
  }

  private def normalize(normalize: Normalize, inferred: Inferred, input: Written): Written = {
    val kind = Alias(SourceKinds.read(normalize.op, keyed = true), "row_kind")()
    val kindOut = ChangelogNode.newKind()
    def isUnread(column: Attribute) = normalize.unread(column.exprId)
    def shown(columns: Seq[Attribute]) =
      columns.map(column => if (isUnread(column)) column.withNullability(true) else column)
    val node = ChangelogNormalize(
      normalize.keys,
      shown(normalize.columns),
      normalize.sequence,
      normalize.columns.filter(isUnread),
      // The source may retract any row at any time, so the watermark closes nothing.
      contract(
        Some(kind.toAttribute),
        Some(kindOut),
        (None, new Watermark),
        normalize.ttlMs,
        inferred),
      AnalyzedColumns.of(Project(normalize.keys ++ normalize.columns :+ kind, input.plan))
    )
    Written(Project(shown(normalize.output) :+ kindOut, node), Some(kindOut))
  }

  /**
   * Keeps rows in their tasks and in their order. A shuffle by the join's keys would put changes of
   * one row out of order.
   */
  private def tableJoin(join: TableJoin, inferred: Inferred, input: Written): Written = {
    StateTypes.require("Join", join.input.output ++ join.table.columns)
    val kindOut = ChangelogNode.newKind()
    val (rows, kind) = input.kind match {
      case Some(kind) if inferred.inputs.head.updateBefore =>
        (withoutBefore(input.plan, kind), kind)
      case Some(kind) => (input.plan, kind)
      case None =>
        val comes = Alias(Literal(RowKind.Insert), "row_kind")()
        (Project(join.input.output :+ comes, input.plan), comes.toAttribute)
    }
    val joined = LowerTableJoin(join, rows, kind)
    val (key, plan) = WholeKey.orWhole(join.key, joined)
    val node = ChangelogNormalize(
      key,
      join.columns,
      Nil,
      unread = Nil,
      contract(Some(kind), Some(kindOut), closing(join.timely, inferred), join.ttlMs, inferred),
      AnalyzedColumns.of(Project(key ++ join.columns :+ kind, plan))
    )
    Written(Project(join.output :+ kindOut, node), Some(kindOut))
  }

  private def aggregate(
      aggregate: GroupAggregate,
      inferred: Inferred,
      input: Written): Written = {
    val kind = ChangelogNode.newKind()
    val (placed, plan) = WholeKey.orWhole(aggregate.placedBy, input.plan)
    val range = aggregate.keys.drop(aggregate.placedBy.size)
    val arguments = aggregate.functions.flatMap(_.references.toSeq).distinctBy(_.exprId)
    val node = ChangelogAggregate(
      placed ++ range,
      arguments,
      aggregate.functions.map(_.transform { case column: Attribute =>
        val place = arguments.indexWhere(_.exprId == column.exprId)
        BoundReference(place, column.dataType, nullable = true)
      }),
      aggregate.distinct,
      aggregate.results,
      isGlobal = aggregate.keys.isEmpty,
      aggregate.once,
      aggregate.panes,
      closedBy(aggregate),
      aggregate.gap,
      contract(
        input.kind,
        Some(kind),
        closingOf(aggregate, inferred),
        aggregate.ttlMs,
        inferred),
      AnalyzedColumns.of(plan)
    )
    if (inferred.changes.insertOnly) Written(Project(aggregate.output, node), None)
    else Written(Project(aggregate.output :+ kind, node), Some(kind))
  }

  private def topN(topN: TopN, inferred: Inferred, input: Written): Written = {
    val kind = if (topN.once.isEmpty) Some(ChangelogNode.newKind()) else None
    val columns = topN.input.output.filterNot(c => topN.partition.exists(_.exprId == c.exprId))
    val below = inferred.inputs.head
    val strategy = topN.strategy(below.facts)
    // The only row of a partition is a value in state, so its columns are never compared.
    val isValue = topN.places.isFirst && strategy != TopNStrategy.Retract
    StateTypes.require("TopN", if (isValue) topN.partition else topN.partition ++ columns)
    // Updates find the old row by its key, and no row is retracted.
    val upserts = (strategy, input.kind) match {
      case (TopNStrategy.UpdateFast(_), Some(its)) if below.updateBefore =>
        withoutBefore(input.plan, its)
      case _ => input.plan
    }
    val (partition, plan) = WholeKey.orWhole(topN.partition, upserts)
    val rowKey = strategy match {
      case TopNStrategy.UpdateFast(key) => topN.input.output.filter(c => key.contains(c.exprId))
      case _ => Nil
    }
    val node = ChangelogTopN(
      partition,
      columns,
      topN.order,
      topN.places,
      topN.rank,
      strategy.name,
      rowKey,
      contract(
        if (strategy == TopNStrategy.Retract) input.kind else None,
        kind,
        topN.once.fold(closing(topN.partition, inferred))(closingAt(_, topN.ends)),
        topN.ttlMs,
        inferred
      ),
      AnalyzedColumns.of(plan)
    )
    val shown = if (topN.once.isEmpty) topN.shown else topN.output
    Written(Project(shown ++ kind, node), kind)
  }

  private def over(over: OverAggregate, inferred: Inferred, input: Written): Written = {
    val kind = ChangelogNode.newKind()
    val columns = over.input.output.filterNot(c => over.partition.exists(_.exprId == c.exprId))
    StateTypes.require("OVER", over.partition ++ columns)
    val (partition, plan) = WholeKey.orWhole(over.partition, input.plan)
    val row = partition ++ columns
    val session = if (closes) over.sessionEnd else None
    def bound(reach: OverReach) = reach.copy(values = BoundColumns.bound(reach.values, row))
    val node = ChangelogOverAggregate(
      partition,
      columns,
      over.order,
      over.calls.map(_.bound(row)),
      over.results ++ over.copyNumber,
      over.frames match {
        case OverFrameKind.Around(back, ahead) => OverFrameKind.Around(bound(back), bound(ahead))
        case running => running
      },
      if (over.apart.isEmpty) Nil
      else (if (choices.tiesByKeys) partition else Nil) ++
        columns.filterNot(c =>
          (over.apart ++ over.numberedBy).exists(_.exprId == c.exprId)),
      over.numberedBy,
      over.pairedBy(inferred.inputs.head.facts).map(key => over.output.filter(c => key(c.exprId))),
      session.map(_ => over.sessionStays),
      contract(
        input.kind,
        Some(kind),
        session.fold(closing(over.partition, inferred))(closingAt(_)),
        over.ttlMs,
        inferred),
      AnalyzedColumns.of(plan)
    )
    Written(Project(over.output :+ kind, node), Some(kind))
  }

  private def held(held: HeldRows, inferred: Inferred, input: Written): Written = Written(
    ChangelogHeldRows(
      held.by,
      held.output,
      contract(None, None, closingAt(held.end, held.ends), ttlMs = 0L, inferred),
      AnalyzedColumns.of(input.plan)),
    None)

  private def held(held: HeldSessions, inferred: Inferred, input: Written): Written = {
    val (keys, plan) = WholeKey.orWhole(held.keys, input.plan)
    val closes = (Some(held.time), new Watermark(held.gap))
    val node = ChangelogHeldSessions(
      keys,
      held.input.output,
      held.time,
      held.gap,
      held.start,
      held.end,
      contract(None, None, closes, ttlMs = 0L, inferred),
      AnalyzedColumns.of(plan))
    Written(Project(held.output, node), None)
  }

  private def temporal(
      join: TemporalJoin,
      inferred: Inferred,
      inputs: Seq[Written]): Written = {
    StateTypes.requireValues("JOIN", join.left.output ++ join.right.output)
    val (leftKeys, left) = WholeKey.orWhole(join.leftKeys, inputs.head.plan)
    val (ownKeys, right) = WholeKey.orWhole(join.rightKeys, inputs.last.plan)
    // Both sides may read one stream, and Spark's optimizer drops aliases that tell them apart.
    val names = (ownKeys ++ join.right.output).distinctBy(_.exprId)
      .map(c => c.exprId -> Alias(c, s"right_${c.name}")()).toMap
    def named(column: Attribute): Attribute = names(column.exprId).toAttribute
    def ofRight(e: Expression): Expression = e.transform {
      case column: Attribute if !ofLeft(column) => named(column)
    }
    def ofLeft(column: Attribute) = join.left.output.exists(_.exprId == column.exprId)
    val node = ChangelogTemporalJoin(
      join.joinType,
      leftKeys,
      ownKeys.map(named),
      join.leftTime,
      named(join.rightTime),
      join.order.map(o => o.copy(child = o.child.transform { case c: Attribute => named(c) })),
      join.deleted.map(named),
      join.condition.map(its => ofRight(Inlined(its))),
      join.left.output,
      join.right.output.map(named),
      ChangelogContract(
        Seq(inputs.head.kind, None),
        None,
        updateBefore = false,
        Seq(Some(join.leftTime), None),
        None,
        new Watermark(join.closesAfter(inferred.inputs.map(_.facts))),
        inferred.mode,
        members.get(join),
        placeOf(join).placement
      ),
      AnalyzedColumns.of(left),
      AnalyzedColumns.of(Project(
        (ownKeys ++ join.right.output).distinctBy(_.exprId).map(c => names(c.exprId)),
        right))
    )
    val shown = join.output.zip(node.output).map { case (column, has) =>
      if (has.exprId == column.exprId) column else Alias(has, column.name)(column.exprId)
    }.distinctBy(_.exprId)
    Written(Project(shown, node), None)
  }

  /** The contract of an operator with one input. */
  private def contract(
      kindIn: Option[Attribute],
      kindOut: Option[Attribute],
      closing: (Option[Attribute], Watermark),
      ttlMs: Long,
      inferred: Inferred): ChangelogContract = ChangelogContract(
    Seq(kindIn),
    kindOut,
    inferred.updateBefore,
    Seq(closing._1),
    TimeToLive.of(ttlMs),
    closing._2,
    inferred.mode,
    members.get(inferred.operator),
    placeOf(inferred.operator).placement
  )

  private def placeOf(operator: ChangelogOperator): Placed =
    Option(placed.get(operator)).getOrElse {
      val ofShuffles = PlanChoices.none
        .copy(
          panesFrom = choices.panesFrom,
          sharesParts = choices.sharesParts,
          tiesByKeys = choices.tiesByKeys)
      val its = Placement.ownShuffles.copy(choices = ofShuffles, version = begun.version)
      Placed(its, spreadsNulls = true)
    }

  /** The key column by which the watermark closes the operator's state, and when it does. */
  private def closing(keys: Seq[Attribute], inferred: Inferred): (Option[Attribute], Watermark) = {
    val facts = inferred.inputs.head.facts
    val by = if (closes) ColumnFacts.closing(keys, facts) else None
    (by, new Watermark(by.fold(0L)(column => facts.eventTimes(column.exprId).after)))
  }

  private def closingOf(
      aggregate: GroupAggregate,
      inferred: Inferred): (Option[Attribute], Watermark) = {
    val times = inferred.inputs.head.facts.eventTimes
    (aggregate.panes, aggregate.once) match {
      case (Some(panes), _) if panes.isMarked =>
        // A pane's window ends its size after the pane.
        val starts = panes.windows match {
          case PaneWindows.Sliding(grid) => WindowEnds(grid.slide, grid.start)
          case PaneWindows.Cumulative(step, _, offset) => WindowEnds(step, offset)
        }
        (Some(aggregate.keys.last), new Watermark(panes.windows.size, Some(starts)))
      case (Some(_), _) => (None, new Watermark)
      case (_, Some(time)) =>
        (Some(time), new Watermark(times.get(time.exprId).fold(0L)(_.after), aggregate.ends))
      case _ => closedBy(aggregate).fold(closing(aggregate.keys, inferred)) { end =>
          (Some(end), new Watermark(aggregate.closedAfter))
        }
    }
  }

  private def closedBy(aggregate: GroupAggregate): Option[Attribute] =
    if (closes || aggregate.gap.nonEmpty) aggregate.closedBy else None

  /** The watermark closes what it has reached of a column: it may be one that it marks no more. */
  private def closingAt(
      time: Attribute,
      ends: Option[WindowEnds] = None): (Option[Attribute], Watermark) =
    (Some(time), new Watermark(ends = ends))

  private def project(columns: Seq[NamedExpression], input: Written): Written =
    Written(Project(Apart.of(columns) ++ input.kind, input.plan), input.kind)

  private def filter(condition: Expression, input: Written, splitsUpdates: Boolean): Written =
    input.kind match {
      case Some(kind) if splitsUpdates =>
        // As in Spark's own filter: after a condition that fails, later conditions are not
        // computed.
        val inTurn = splitConjunctivePredicates(condition).reduceRight[Expression] {
          (first, others) =>
            If(first, others, Literal.FalseLiteral)
        }
        val passes = Alias(Apart.alone(inTurn), "passes")()
        val judged = Project(input.plan.output :+ passes, input.plan)
        val newKind = ChangelogNode.newKind()
        val kept = ChangelogFilter(passes.toAttribute, kind, newKind, judged)
        val columns = input.plan.output.map(c => if (c.exprId == kind.exprId) newKind else c)
        Written(Project(columns, kept), Some(newKind))
      case _ =>
        Written(Filter(above(input.plan, condition), input.plan), input.kind)
    }

  /**
   * Updates become deletions and inserts, because their two sides may have different numbers of
   * rows.
   */
  private def generate(generation: Generation, input: Written): Written = {
    def generate(child: LogicalPlan) = Generate(
      generation.generator,
      unrequiredChildIndex = Nil,
      generation.outer,
      qualifier = None,
      generation.made,
      child)
    input.kind match {
      case None => Written(generate(input.plan), None)
      case Some(kind) =>
        val newKind = Alias(alone(kind), "row_kind")()
        val columns = input.plan.output.filterNot(_.exprId == kind.exprId)
        val plan = generate(Project(columns :+ newKind, input.plan))
        Written(plan, Some(newKind.toAttribute))
    }
  }

  private def expand(expansion: Expansion, input: Written): Written = input.kind match {
    case None =>
      Written(Expand(expansion.projections, expansion.output, input.plan), None)
    case Some(kind) =>
      val newKind = ChangelogNode.newKind()
      val rows = expansion.projections.map(_ :+ alone(kind))
      Written(Expand(rows, expansion.output :+ newKind, input.plan), Some(newKind))
  }

  /** The kind without updates: an insert or a deletion. */
  private def alone(kind: Attribute): Expression = {
    val goes = Literal(RowKind.Delete)
    If(
      Or(EqualTo(kind, goes), EqualTo(kind, Literal(RowKind.UpdateBefore))),
      goes,
      Literal(RowKind.Insert))
  }

  private def union(union: UnionAll, inputs: Seq[Written]): Written =
    if (inputs.forall(_.kind.isEmpty)) Written(Union(inputs.map(_.plan)), None)
    else {
      val inserted = Literal(RowKind.Insert)
      val alike = inputs.zip(union.inputs).map { case (input, operator) =>
        val kind = input.kind.getOrElse(Alias(inserted, "row_kind")())
        Project(operator.output :+ kind, input.plan)
      }
      val whole = Union(alike)
      Written(named(whole, union.output), Some(whole.output.last))
    }

  /** A union has the columns of its first input. The query reads them by other ids. */
  private def named(union: Union, columns: Seq[Attribute]): LogicalPlan = {
    val has = union.output
    val renamed = columns.zip(has).map { case (wanted, column) =>
      if (wanted.exprId == column.exprId) column else Alias(column, wanted.name)(wanted.exprId)
    }
    Project(renamed :+ has.last, union)
  }

  private def events(events: ChangeEvents, from: Inferred, input: Written): Written = {
    val shown = input.kind match {
      case Some(kind) if from.updateBefore && !events.updateBefore =>
        withoutBefore(input.plan, kind)
      case _ => input.plan
    }
    val columns = events.columns.map(_.transform { case _: RowKindFunction =>
      RowKindFunction.nameOf(input.kind)
    }.asInstanceOf[NamedExpression])
    Written(Project(Apart.of(columns), shown), None)
  }
}

private[changelog] object LowerOperators {

  def apply(inferred: Inferred, begun: BegunPlan): Written =
    apply(inferred, closes = true, begun)

  /** Complete mode emits every group, whatever the watermark, as Spark does. */
  def complete(inferred: Inferred, begun: BegunPlan): Written =
    apply(inferred, closes = false, begun)

  private def apply(inferred: Inferred, closes: Boolean, begun: BegunPlan): Written = {
    val placed = PlaceState(inferred.operator, begun)
    if (begun.choices.sharesStores) ShareStores(inferred.operator, placed, begun)
    new LowerOperators(
      closes,
      new DescribeMembers(begun.version)(inferred),
      placed,
      begun)(inferred)
  }

  /** The changelog without update-before rows: the newest row of each key, and deletions. */
  def withoutBefore(plan: LogicalPlan, kind: Attribute): LogicalPlan =
    Filter(And(IsNotNull(kind), Not(EqualTo(kind, Literal(RowKind.UpdateBefore)))), plan)
}
