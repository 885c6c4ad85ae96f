package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.{ChangelogConf, ChangelogErrors, SimpleConditions, StateTypes}
import io.firesteel.changelog.plan.{ChangeEvents, ChangelogOperator, ColumnFacts, ComputedColumns, EventTime, Expansion, Generation, GroupAggregate, MatchedRows, PlaceFunction, Projection, Selection, SharedChanges, SharedRows, Source, SplitDistinct, StaticTable, TopN, UnionAll}
import io.firesteel.changelog.plan.parse.conditions.{JoinSubqueries, SortBelow}
import io.firesteel.changelog.plan.parse.rank.{OrderedLimit, Projected, RankedWindow, SortedLimits}
import io.firesteel.changelog.state.{BegunPlan, PlanVersion}
import io.firesteel.changelog.sql.{FromChangelog, InputHint, RowKindFunction, Snapshot, StateTtl}
import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeSet, Expression, NamedExpression, PredicateHelper, SubqueryExpression, UserDefinedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Deduplicate, Distinct, EventTimeWatermark, Expand, Filter, Generate, GlobalLimit, Join, LocalLimit, LocalRelation, LogicalPlan, Offset, Project, RebalancePartitions, RepartitionOperation, ResolvedHint, Sort, SubqueryAlias, UnaryNode, Union, View, Window}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.NullType

/**
 * Reads an analysed query as operators of a changelog. If it cannot, it raises an error with the
 * operator, the reason and an alternative.
 *
 * @param updateBefore whether `row_kind()` shows update-before rows
 * @param refused Spark's reason for refusing the query, if it does
 * @param begun what the version with which the checkpoint began can do
 * @param windows when groups that a watermark closes are emitted
 * @param ttlMs the time to live of state in milliseconds; 0 keeps it forever
 * @param isSnapshot whether it is the table of a snapshot join, whose groups close all the same
 */
final private[changelog] class ParseQuery(
    updateBefore: Boolean,
    refused: Option[String],
    begun: BegunPlan = BegunPlan.latest,
    windowsOf: WindowsEmit = WindowsEmit.Copied,
    private val ttlMs: Long = SQLConf.get.getConf(ChangelogConf.STATE_TTL),
    isSnapshot: Boolean = false)
  extends PredicateHelper {

  // Forms that were refused before: a statement with one was Spark's.
  private val readsMore = begun.version >= PlanVersion.moreForms

  private val closesRows = begun.version >= PlanVersion.closedRows

  /** In complete mode groups do not close, and what has joined them does not, either. */
  private val closesChanges = begun.version >= PlanVersion.closedChanges &&
    (begun.version < PlanVersion.openTables || isSnapshot || windowsOf != WindowsEmit.Copied)
  private val settles = begun.version >= PlanVersion.settledSubqueries
  private val lateral = new LateralRows(begun.version >= PlanVersion.paddedLateral)
  private val sortedLimits = new SortedLimits(begun.version >= PlanVersion.nestedLimits)

  def read(plan: LogicalPlan): ChangelogOperator = plan match {
    case grouped: Aggregate if SelectedKinds.areKeysOfAll(grouped) =>
      read(grouped.copy(groupingExpressions =
        grouped.groupingExpressions.filterNot(_.isInstanceOf[RowKindFunction])))
    case Filter(condition, OrderedLimit(rows)) if begun.version >= PlanVersion.orderedLimits =>
      read(Filter(condition, rows))
    case StateTtl(ms, child) => keeping(Some(ms)).read(child)
    case windows(closed) => closed
    case StatelessSource(rows) => Source(rows)
    case changes: SharedChanges => SharedRows(changes)
    case from: FromChangelog =>
      ReadSource(from, ttlMs, closes = begun.version >= PlanVersion.changingTimes)
    case InputHint(_, _, child) => read(child)
    case alias: SubqueryAlias => read(alias.child)
    case view: View => read(view.child)
    case hint: ResolvedHint => read(hint.child) // of a join, which Spark has its own ways to run
    case project: Project => this.project(project.projectList, read(project.child))
    case aggregate @ ReadPanes(panes) if usesPanes(panes) =>
      if (begun.version >= PlanVersion.laterTimes) requireNoOrder(aggregate)
      val found = panes(
        atClose,
        timeOf(panes).nonEmpty,
        rows => noEvents("Aggregate", read(rows)),
        computable("Aggregate", _, _)).filterNot(closesOtherwise(panes, _))
      found.fold(groups(aggregate))(its => project(its.columns, its.operator))
    case aggregate: Aggregate => groups(aggregate)
    case distinct: Distinct =>
      val ttl =
        if (begun.version < PlanVersion.ttlOfInputs) ttlMs
        else ttlOf(distinct.child)
      ReadAggregate.distinct(ttl, noEvents("DISTINCT", read(distinct.child)))
    case first: Deduplicate if readsMore =>
      if (!first.outputSet.subsetOf(AttributeSet(first.keys))) refuseSort(first.child)
      deduplicated(first, noEvents("dropDuplicates", read(first.child)))
    case union: Union =>
      val all = union.children.map { child =>
        if (child.isStreaming || !readsMore) noEvents("UNION", read(child))
        else StaticTable(child)
      }
      UnionAll(all, union.output)
    case SetOperation(rewritten) => read(rewritten)
    case filter: Filter => this.filter(filter)
    case generate: Generate =>
      val input = noEvents("Generate", read(generate.child))
      Generation(
        generate.generator,
        generate.outer,
        generate.generatorOutput,
        computable("Generate", Seq(generate.generator), input))
    case mark: EventTimeWatermark if readsMore =>
      read(ReadSource.below(mark).getOrElse(throw Unsupported(mark, refused)))
    case lateral(rows) => read(rows)
    // Rows have no order, and tasks no rows of their own, for what is above.
    case sort: Sort if readsMore => read(sort.child)
    case _: RepartitionOperation | _: RebalancePartitions if readsMore => read(plan.children.head)
    case expand: Expand =>
      val input = noEvents("Expand", read(expand.child))
      Expansion(
        expand.projections,
        expand.output,
        computable("Expand", expand.projections.flatten, input))
    case JoinSubqueries(filter) if readsMore => read(filter)
    case join: Join if join.children.exists(!_.isStreaming) =>
      ReadJoin(
        join,
        ttlMs,
        begun.version,
        stream => computable("Join", join.condition.toSeq, noEvents("Join", read(stream))))
    case join: Join if ReadTemporalJoin.isOf(join) =>
      new ReadTemporalJoin(begun.version, side => noEvents("Join", read(side)))(join)
    case _: Snapshot => throw ChangelogErrors.unsupportedOperator(
        "SNAPSHOT",
        "it is not the right side of a JOIN or a LEFT JOIN of two streams",
        "leave it out")
    case join: Join =>
      // The table of a snapshot is what it is at the time, and not only what has closed.
      val tables = join.children.flatMap(Snapshot.below)
      val changing = new ParseQuery(
        updateBefore,
        refused,
        begun,
        WindowsEmit.Copied,
        ttlMs,
        isSnapshot = isSnapshot || windowsOf != WindowsEmit.Copied)
      ReadStreamJoin(join, ttlMs, begun.version, closesRows, closesChanges) { side =>
        noEvents("Join", (if (tables.contains(side)) changing else this).read(side))
      }
    case _: GlobalLimit | _: LocalLimit | _: Offset => limit(plan)
    case RankedWindow.Whole(window) => this.ranked(window, plan.output)
    case OverWindow(over) => this.over(over, plan.output)
    case other => throw Unsupported(other, refused)
  }

  /** `dropDuplicates`: any row of those with the same keys; the first by their bytes. */
  private def deduplicated(first: Deduplicate, input: ChangelogOperator): ChangelogOperator =
    if (first.outputSet.subsetOf(AttributeSet(first.keys))) ReadAggregate.distinct(ttlMs, input)
    else {
      val below = new ComputedColumns()
      val keys = first.keys.filter(_.dataType != NullType)
        .map(key => below.of(StateTypes.normalForm(key))).distinctBy(_.exprId)
      val one = PlaceFunction.RowNumber
      Projection(
        first.output,
        TopN(keys, Nil, one, from = 1L, to = 1L, None, ttlMs, below.over(input)))
    }

  private def requireNoOrder(asking: Aggregate): Unit =
    if (asking.aggregateExpressions.exists(_.exists(ReadAggregate.needsOrder)))
      refuseSort(asking.child)

  private def groups(written: Aggregate): ChangelogOperator = {
    requireNoOrder(written)
    val rows = noEvents("Aggregate", read(written.child))
    val asking = settledGroups(written)
    val kept = KeptSubqueries.of(ReadAggregate.evaluated(asking), rows, ttlMs, begun.version)
    val (asked, found) =
      kept.fold((asking, rows))(its => (ReadAggregate.over(asking, its), its.input))
    val SessionGroups.Grouped(aggregate, input, closedBy, closedAfter) =
      SessionGroups.of(asked.groupingExpressions)
        .fold(SessionGroups.Grouped(asked, found))(
          SessionGroups(asked, _, found, ttlMs, begun.version))
    val grouped = ReadAggregate(
      aggregate,
      ttlOf(asking.child),
      computable("Aggregate", ReadAggregate.evaluated(aggregate), input),
      closedBy,
      closedAfter)
    val made = closing(grouped.operator).getOrElse {
      requireSteady(grouped.operator)
      SplitDistinct(grouped.operator)
    }
    project(grouped.columns, made)
  }

  /** The time to live of groups over an input. */
  private def ttlOf(input: LogicalPlan): Long =
    (if (begun.version < PlanVersion.ttlOfGroups) InputHint.ttlOf(input)
     else InputHint.ttlOfGroups(input)).getOrElse(ttlMs)

  private def ttl(panes: ReadPanes): Long =
    if (begun.version < PlanVersion.ttlOfGroups) ttlMs else ttlOf(panes.rows)

  /** Over rows that change state has the result itself, over others a sketch, which is read again. */
  private def requireSteady(groups: GroupAggregate): Unit =
    if (!groups.emitsOnce && groups.input.facts.changes.insertOnly) {
      groups.functions.zip(groups.distinct).foreach { case (function, distinct) =>
        if (!distinct && Repeatable.draws(function))
          throw Repeatable.drawn(function)
      }
    }

  /** The groups that are emitted once: in append mode, where the watermark closes a key. */
  private def closing(groups: GroupAggregate): Option[GroupAggregate] =
    if (!atClose || begun.version < PlanVersion.panes || groups.facts.changes.insertOnly) None
    else ColumnFacts.closing(groups.keys, groups.input.facts)
      .map(key => groups.copy(once = Some(key), ttlMs = 0L))

  /**
   * When the watermark closes the time of windows; none if it does not. Windows that answer once take
   * rows that only come.
   */
  private def timeOf(panes: ReadPanes): Option[EventTime] =
    Some(read(panes.rows).facts)
      .filter { facts =>
        facts.changes.insertOnly || begun.version < PlanVersion.changingTimes ||
        !atClose && begun.version >= PlanVersion.laterTimes
      }
      .flatMap(_.eventTimes.get(panes.time.exprId))

  /**
   * Whether windows are kept as panes. Windows that close need a watermark. Rows of a time that
   * closes later than its value come after windows of it would.
   */
  private def usesPanes(panes: ReadPanes): Boolean =
    begun.choices.usesPanes && !mergesSessions(panes) && {
      def closesAt = timeOf(panes).map(_.after)
      windowsOf match {
        case WindowsEmit.AtClose => closesAt.contains(0L)
        case WindowsEmit.AtOnce =>
          ttl(panes) == 0L && panes.windows.overlap >= begun.choices.panesFrom && closesAt.forall(
            _ == 0L)
        case WindowsEmit.Copied => false
      }
    }

  /** Whether the watermark closes groups by another time than that of the windows, as panes do not. */
  private def closesOtherwise(panes: ReadPanes, found: ReadAggregate): Boolean =
    begun.version >= PlanVersion.otherTimes && !atClose && timeOf(panes).isEmpty &&
      ColumnFacts.closing(found.operator.keys, found.operator.input.facts).nonEmpty

  /** Rows of sessions are merged before they are counted, so panes cannot count them. */
  private def mergesSessions(panes: ReadPanes): Boolean =
    begun.version >= PlanVersion.ownPanes && panes.haveSessions

  private val windows = new ReadWindows(
    rows => noEvents("GROUP BY, OVER and JOIN of windows", read(rows)),
    this.computable(_, _, _),
    this.project(_, _),
    begun
  )

  private def atClose: Boolean = windowsOf == WindowsEmit.AtClose

  /** The same reader with another time to live, if a hint gives one. */
  private def keeping(ttl: Option[Long]): ParseQuery =
    ttl.fold(this)(new ParseQuery(updateBefore, refused, begun, windowsOf, _, isSnapshot))

  /** A projection. With `row_kind()` in it, changes become rows here. */
  private def project(
      written: Seq[NamedExpression],
      input: ChangelogOperator): ChangelogOperator = {
    val columns = settled(written, input)
    KeptSubqueries.of(columns, input, ttlMs, begun.version) match {
      case Some(kept) => project(columns.map(kept(_)), kept.input)
      case None if columns.exists(RowKindFunction.isIn) =>
        ChangeEvents(
          columns,
          updateBefore,
          noEvents("row_kind()", repeatable("Project", columns, input)))
      case None => Projection(columns, input)
    }
  }

  private def filter(filter: Filter): ChangelogOperator = filter match {
    case asking if RowKindFunction.isIn(asking.condition) =>
      throw ChangelogErrors.misplacedRowKind("a filter")
    // Either filter may have the bound of the place.
    case Filter(above, FilterBelow(below, columns))
        if above.deterministic && Projected.of(below.child).below.isInstanceOf[Window] =>
      project(columns, this.filter(Filter(And(below.condition, above), below.child)))
    case RankedWindow(ranked) => this.ranked(ranked, filter.child.output)
    case OrderedJoins(joined) => read(joined)
    case ReadJoin.Filtered(join) => read(join)
    // HAVING filters groups, so it belongs below the `row_kind()` of its SELECT.
    case Filter(condition, grouped) if SelectedKinds.isOfGroups(grouped) =>
      having(condition, read(grouped))
    case plain => select(plain.condition, read(plain.child))
  }

  /** QUALIFY filters rows, so the `row_kind()` of its SELECT moves above the ranking. */
  private def ranked(ranked: RankedWindow, output: Seq[Attribute]): ChangelogOperator = {
    // The numbers of a limit that each row has of its own are in the order of the rows.
    if (ranked.window.orderSpec.isEmpty && begun.version >= PlanVersion.orderedLimits)
      refuseSort(ranked.window.child)
    val its = keeping(ranked.ttl)
    val query = its.read(ranked.window.child)
    val (kinds, rows) =
      if (SelectedKinds.areBelow(ranked.window.child)) SelectedKinds.apart(query) else (Nil, query)
    val input = noEvents("TopN", rows)
    val topN = ranked.operator(computable("TopN", ranked.expressions, input), its.ttlMs)
    val projected = ranked.projections.reverse.foldLeft(topN) { (op, list) =>
      val others = list.filterNot(column => kinds.exists(_.exprId == column.exprId))
      project(SelectedKinds.withReadBy(kinds, others), op)
    }
    val (ofKinds, ofRows) = ranked.rest.partition(SelectedKinds.reads(_, kinds))
    val left = ofRows.foldLeft(projected)((op, condition) => select(condition, op))
    val told =
      if (kinds.isEmpty) left
      else project(output.map(c => kinds.find(_.exprId == c.exprId).getOrElse(c)), left)
    ofKinds.foldLeft(told)((op, condition) => select(condition, op))
  }

  /** The `row_kind()` of the SELECT of a window moves above it. */
  private def over(over: OverWindow, output: Seq[Attribute]): ChangelogOperator = {
    val query = read(over.window.child)
    val (kinds, rows) =
      if (SelectedKinds.areBelow(over.window.child)) SelectedKinds.apart(query) else (Nil, query)
    if (over.expressions.exists(SelectedKinds.reads(_, kinds)))
      throw ChangelogErrors.misplacedRowKind("OVER")
    // A result is computed again to be taken back.
    over.calls.map(_._2.windowFunction).find(Repeatable.draws).foreach { its =>
      throw Repeatable.drawn(its)
    }
    val input = computable("OVER", over.expressions, noEvents("OVER", rows))
    val made =
      over.operator(input, ttlMs, numbers = begun.version >= PlanVersion.numberedCopies)
    if (kinds.isEmpty) made
    else project(output.map(c => kinds.find(_.exprId == c.exprId).getOrElse(c)), made)
  }

  /** Moves the condition below `row_kind()`, unless it reads a kind. */
  private def having(condition: Expression, result: ChangelogOperator): ChangelogOperator =
    result match {
      case ChangeEvents(columns, before, input) =>
        val (kinds, others) = columns.partition(RowKindFunction.isIn)
        if (SelectedKinds.reads(condition, kinds)) select(condition, result)
        else {
          // The projection computes each column once, including the columns that the kinds read.
          val below = Projection(SelectedKinds.withReadBy(kinds, others), input)
          val shown = columns.map(c => if (kinds.contains(c)) c else c.toAttribute)
          ChangeEvents(shown, before, select(condition, below))
        }
      // Columns computed from other columns of the SELECT stand above it.
      case Projection(columns, below)
          if isOfEvents(below) && columns.forall(_.deterministic) &&
            !SubqueryExpression.hasSubquery(condition) && !asksUsersFunctions(condition, columns) =>
        Projection(columns, having(SelectedKinds.inTermsOf(columns, condition), below))
      case other => select(condition, other)
    }

  private def isOfEvents(operator: ChangelogOperator): Boolean = operator match {
    case _: ChangeEvents => true
    case Projection(_, below) => isOfEvents(below)
    case _ => false
  }

  /**
   * Moves a filter below projections, as Spark's optimizer does: expressions over rows that the
   * condition excludes may fail. The filter stays above users' functions, to call them once, above
   * subqueries, which may read columns by their names there, and above matches of a join.
   */
  private def select(condition: Expression, input: ChangelogOperator): ChangelogOperator =
    input match {
      case rows @ Projection(columns, below)
          if !MatchedRows.are(rows) && condition.deterministic && columns.forall(_.deterministic) &&
            !SubqueryExpression.hasSubquery(condition) && !asksUsersFunctions(condition, columns) =>
        Projection(columns, select(SelectedKinds.inTermsOf(columns, condition), below))
      case groups: GroupAggregate if belowKeys && !groups.emitsOnce && groups.closedBy.isEmpty =>
        onKeys(condition, groups.keys, groups)(its =>
          groups.copy(input = select(its, groups.input)))
      case top: TopN if belowKeys && top.once.isEmpty =>
        onKeys(condition, top.partition, top)(its => top.copy(input = select(its, top.input)))
      case _ => selected(condition, input)
    }

  private def belowKeys: Boolean = begun.version >= PlanVersion.whereBelow

  /**
   * What reads keys alone is asked of the rows: state has no other groups then. It is asked of the
   * result, too, whose filters are in the checkpoint's record.
   */
  private def onKeys(condition: Expression, keys: Seq[Attribute], input: ChangelogOperator)(
      below: Expression => ChangelogOperator): ChangelogOperator = {
    val all = splitConjunctivePredicates(condition)
    // What stands behind a user's function is asked only of rows that it lets pass.
    val first =
      if (begun.version < PlanVersion.guardsOfUsers) all
      else all.takeWhile(!_.exists(_.isInstanceOf[UserDefinedExpression]))
    val own = first.filter { its =>
      Repeatable.isFree(its, begun.version) && its.references.nonEmpty && its.references.subsetOf(
        AttributeSet(keys))
    }
    selected(condition, own.reduceOption(And(_, _)).fold(input)(below))
  }

  private def selected(condition: Expression, input: ChangelogOperator): ChangelogOperator =
    KeptSubqueries.of(Seq(condition), input, ttlMs, begun.version) match {
      case Some(_) if settles => selectedApart(condition, input)
      case Some(kept) => Projection(input.output, Selection(kept(condition), kept.input))
      case None => Selection(condition, repeatable("Filter", Seq(condition), input))
    }

  /** What reads no table is asked first: it may say of which rows a table's value can be computed. */
  private def selectedApart(condition: Expression, input: ChangelogOperator): ChangelogOperator = {
    val simple = settled(Filter(condition, LocalRelation(input.output, Nil, isStreaming = true)))
    val (ofTables, others) =
      splitConjunctivePredicates(simple.condition).partition(SubqueryExpression.hasSubquery)
    val rows = others.reduceOption(And(_, _)).fold(input)(select(_, input))
    ofTables.reduceOption(And(_, _)).fold(rows) { asked =>
      KeptSubqueries.of(Seq(asked), rows, ttlMs, begun.version) match {
        case Some(kept) =>
          val own = kept(asked)
          Projection(rows.output, Selection(own, repeatable("Filter", Seq(own), kept.input)))
        case None => Selection(asked, repeatable("Filter", Seq(asked), rows))
      }
    }
  }

  /** `NOT (a IN (...) AND b)` has a `NOT IN`: with a null that is no negation of `IN`. */
  private def settled[N <: UnaryNode](node: N): N =
    if (!settles || !node.expressions.exists(SubqueryExpression.hasSubquery)) node
    else {
      val below = LocalRelation(node.child.output, Nil, isStreaming = true)
      SimpleConditions.in(node.withNewChildren(Seq(below)))
        .withNewChildren(Seq(node.child)).asInstanceOf[N]
    }

  /** The results read the keys as they are written. */
  private def settledGroups(written: Aggregate): Aggregate =
    if (!settles || !written.expressions.exists(SubqueryExpression.hasSubquery)) written
    else {
      val keys = written.groupingExpressions
      val hidden = keys.map(key => Alias(key, "key")().toAttribute)
      val results = written.aggregateExpressions.map(_.transformDown {
        case part if keys.exists(_.semanticEquals(part)) =>
          hidden(keys.indexWhere(_.semanticEquals(part)))
      }.asInstanceOf[NamedExpression])
      val simple = settled(written.copy(aggregateExpressions = results))
      simple.copy(aggregateExpressions = simple.aggregateExpressions.map(_.transform {
        case column: Attribute if hidden.exists(_.exprId == column.exprId) =>
          simple.groupingExpressions(hidden.indexWhere(_.exprId == column.exprId))
      }.asInstanceOf[NamedExpression]))
    }

  private def settled(
      columns: Seq[NamedExpression],
      input: ChangelogOperator): Seq[NamedExpression] =
    if (!settles || !columns.exists(SubqueryExpression.hasSubquery)) columns
    else settled(Project(columns, LocalRelation(input.output, Nil, isStreaming = true))).projectList

  private def asksUsersFunctions(condition: Expression, columns: Seq[NamedExpression]): Boolean =
    columns.exists { column =>
      condition.references.contains(column.toAttribute) &&
      column.exists(_.isInstanceOf[UserDefinedExpression])
    }

  private def limit(plan: LogicalPlan): ChangelogOperator = plan match {
    case sortedLimits(sorted) =>
      if (sorted.order.isEmpty) {
        refuseSort(sorted.rows)
        if (begun.version >= PlanVersion.limitsOrder) {
          SortBelow.limited(sorted.rows).foreach(sort => throw Unsupported(sort, refused))
        }
      }
      val its = keeping(sorted.ttl)
      val input = noEvents("LIMIT", its.read(sorted.rows))
      val topN = sorted.operator(computable("LIMIT", sorted.order, input), its.ttlMs)
      sorted.projections.reverse.foldLeft(topN)((op, list) => project(list, op))
    case _ => throw Unsupported(plan, refused)
  }

  /** An order of the rows below, which the operator above would take them in. */
  private def refuseSort(rows: LogicalPlan): Unit =
    SortBelow(rows).foreach(sort => throw Unsupported(sort, refused))

  private def repeatable(
      operator: String,
      expressions: Seq[Expression],
      input: ChangelogOperator): ChangelogOperator = {
    Repeatable.require(operator, expressions, input)
    input
  }

  /**
   * The same for expressions that are no columns of the result. They may not contain `row_kind()`.
   */
  private def computable(
      operator: String,
      expressions: Seq[Expression],
      input: ChangelogOperator): ChangelogOperator = {
    if (expressions.exists(RowKindFunction.isIn)) {
      throw ChangelogErrors.misplacedRowKind(operator)
    }
    repeatable(operator, expressions, input)
  }

  /** Above `row_kind()` rows are changes, so a count or rank of them would not be the query's. */
  private def noEvents(operator: String, input: ChangelogOperator): ChangelogOperator = {
    def has(op: ChangelogOperator): Boolean =
      op.isInstanceOf[ChangeEvents] || op.inputs.exists(has)
    if (has(input)) throw ChangelogErrors.misplacedRowKind(operator)
    input
  }
}

/** A filter, below nothing but aliases and projections that select columns. */
private object FilterBelow {
  def unapply(plan: LogicalPlan): Option[(Filter, Seq[NamedExpression])] = plan match {
    case filter: Filter
        if filter.condition.deterministic && !RowKindFunction.isIn(filter.condition) =>
      Some((filter, filter.output))
    case alias: SubqueryAlias => unapply(alias.child)
    case Project(columns, child) if columns.forall(_.isInstanceOf[Attribute]) =>
      unapply(child).map { case (filter, _) => (filter, columns) }
    case _ => None
  }
}

/** When the aggregates of a query emit groups that a watermark closes. */
sealed private[changelog] trait WindowsEmit

private[changelog] object WindowsEmit {

  /** Once, when the watermark closes them: append mode. */
  case object AtClose extends WindowsEmit

  /** The changes of each micro-batch. */
  case object AtOnce extends WindowsEmit

  /** The same, and each row is copied into all of its windows, which stay: complete mode. */
  case object Copied extends WindowsEmit
}
