package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.{ChangelogErrors, StateTypes}
import io.firesteel.changelog.plan.{ChangelogOperator, ClosedWindows, ColumnFacts, ComputedColumns, HeldRows, HeldSessions, Projection, StreamJoin, TableRows, WindowedInput}
import io.firesteel.changelog.plan.parse.conditions.SortBelow
import io.firesteel.changelog.plan.parse.rank.RankedWindow
import io.firesteel.changelog.plan.parse.windows.SameInputs
import io.firesteel.changelog.sql.{InputHint, RowKindFunction}
import io.firesteel.changelog.state.{BegunPlan, PlanVersion}
import io.firesteel.changelog.windows.{FoldedSessions, SessionAggregate, SessionTable, WindowTable}
import io.firesteel.core.plans.ReadByKey

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, EqualTo, Expression, NamedExpression, PredicateHelper, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.{Cross, ExistenceJoin, FullOuter, Inner, LeftAnti, LeftOuter, LeftSemi, RightOuter}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Distinct, Expand, Filter, Generate, HintInfo, Join, JoinHint, LateralJoin, LogicalPlan, NO_BROADCAST_HASH, Project, RebalancePartitions, RepartitionOperation, ResolvedHint, Sort, SubqueryAlias, Union, View, Window}

/**
 * Reads what a query asks of the windows of `TUMBLE`, `HOP`, `CUMULATE` and `SESSION`, where a
 * watermark closes them: aggregates by them, rankings within them, joins of them (Flink: window
 * aggregation, Top-N, deduplication, join). These answer once, when a window closes.
 *
 * Rows wait at the lowest such operator only, an aggregate as a group. All rows of a window then
 * come in one micro-batch, to all operators above, which are Spark's own for batch.
 *
 * @param read reads the rows below, which may have no `row_kind()`
 * @param select a projection, which may have it
 * @param begun how the checkpoint began: it keeps its plan
 */
final private[parse] class ReadWindows(
    read: LogicalPlan => ChangelogOperator,
    computable: (String, Seq[Expression], ChangelogOperator) => ChangelogOperator,
    select: (Seq[NamedExpression], ChangelogOperator) => ChangelogOperator,
    begun: BegunPlan)
  extends PredicateHelper {

  private val lateral = new LateralRows(begun.version >= PlanVersion.paddedLateral)

  // Aggregates that are the same are computed once.
  private val sharesInputs =
    begun.version >= PlanVersion.sameInputs && begun.choices.sharesParts

  /** The operators up to this node, if the last windows close below it. */
  def unapply(plan: LogicalPlan): Option[ChangelogOperator] =
    if (!ReadWindows.areIn(plan)) None
    else plan match {
      // Of closed windows each change is an insert.
      case aggregate: Aggregate if aggregate.aggregateExpressions.exists(RowKindFunction.isIn) =>
        val (kinds, columns) = aggregate.aggregateExpressions.partition(RowKindFunction.isIn)
        unapply(aggregate.copy(aggregateExpressions = columns)).map { groups =>
          select(
            aggregate.aggregateExpressions.map(c => if (kinds.contains(c)) c else c.toAttribute),
            groups)
        }
      case window: Window if SelectedKinds.areBelow(window.child) && isOfWindows(window) =>
        throw ChangelogErrors.misplacedRowKind("OVER of windows")
      case _ => closedBelow(plan)
    }

  private def isOfWindows(window: Window): Boolean = {
    val rows = window.child match {
      case Project(columns, child) => Project(columns.filterNot(RowKindFunction.isIn), child)
      case other => other
    }
    closedBelow(window.withNewChildren(Seq(rows))).nonEmpty
  }

  private def closedBelow(plan: LogicalPlan): Option[ChangelogOperator] = {
    val inputs = ArrayBuffer.empty[ChangelogOperator]
    windowed(plan, inputs).filter(_.isClosed).map { its =>
      val closed = ClosedWindows(its.plan, its.times, inputs.toSeq)
      if (sharesInputs) SameInputs(closed) else closed
    }
  }

  /**
   * A plan whose rows belong to one window each.
   *
   * @param windows the windows whose columns it has
   * @param times as those of [[ClosedWindows]]
   * @param isClosed whether its rows are those of closed windows, and all come at once
   * @param changes whether rows of open windows may be retracted: an aggregate takes them so
   */
  private case class Windowed(
      windows: Set[WindowTable.Columns],
      times: Map[Attribute, Long],
      isClosed: Boolean,
      plan: LogicalPlan,
      changes: Boolean = false) {

    /** Whether rows may wait until their window closes, or do so already. */
    def waits: Boolean = isClosed || !changes

    /** Another plan with the same windows. */
    def of(made: LogicalPlan): Windowed = copy(plan = made)

    /** Another plan that passes on some columns. */
    def of(made: LogicalPlan, columns: Seq[NamedExpression]): Option[Windowed] = {
      val named = renamed(columns)
      val kept = windows.flatMap { its =>
        for (start <- named(its.start); end <- named(its.end))
          yield its.copy(start = start, end = end)
      }
      val ends = times.flatMap { case (time, after) => named(time).map(_ -> after) }
      Some(copy(kept, ends, plan = made))
        .filter(its => its.isClosed || its.windows.nonEmpty)
    }

    /** Windows by which the expressions tell rows apart. */
    def by(keys: Seq[Expression]): Option[WindowTable.Columns] = windows.find { its =>
      Seq(its.start, its.end).forall(column => keys.exists(_.semanticEquals(column)))
    }
  }

  private def windowed(
      plan: LogicalPlan,
      inputs: ArrayBuffer[ChangelogOperator]): Option[Windowed] = windowed(plan, inputs, None)

  /** @param ranked the filter on places right above, with nothing but projections between */
  private def windowed(
      plan: LogicalPlan,
      inputs: ArrayBuffer[ChangelogOperator],
      ranked: Option[RankedWindow]): Option[Windowed] =
    plan match {
      case hint: ResolvedHint if findsMore => windowed(hint.child, inputs, ranked)
      case InputHint(_, _, child) if findsMore => windowed(child, inputs, ranked)
      case _: Sort | _: RepartitionOperation | _: RebalancePartitions if isLater =>
        windowed(plan.children.head, inputs, ranked)
      case join: LateralJoin if findsMore && join.isStreaming =>
        lateral.unapply(join).flatMap(windowed(_, inputs))
      case _ if !plan.isStreaming || plan.expressions.exists(isOther) && !readsTables(plan) => None
      case alias: SubqueryAlias => windowed(alias.child, inputs, ranked)
      case view: View => windowed(view.child, inputs, ranked)
      case SessionTable(parts) => session(parts, inputs)
      case made @ WindowTable(columns, time) if isClosed(time, made) =>
        val ends = Map(columns.end -> 0L, time -> 1L)
        Some(Windowed(Set(columns), ends, isClosed = false, made, changes = mayChange(made)))
      case project: Project =>
        windowed(project.child, inputs, ranked).filter(mayRead(project, _)).flatMap { its =>
          its.of(project.copy(child = its.plan), project.projectList)
        }
      case OrderedJoins(joined) if findsMore => windowed(joined, inputs)
      case filter: Filter =>
        windowed(filter.child, inputs, RankedWindow.unapply(filter)).filter(mayRead(filter, _))
          .map(its => its.of(filter.copy(child = its.plan)))
      case generate: Generate =>
        windowed(generate.child, inputs).map(its => its.of(generate.copy(child = its.plan)))
      case expand: Expand if begun.version >= PlanVersion.windowSets =>
        windowed(expand.child, inputs)
          .flatMap(its => its.of(expand.copy(child = its.plan), passedOn(expand)))
      case union: Union if begun.version >= PlanVersion.windowSets => united(union, inputs)
      case distinct: Distinct =>
        windowed(Aggregate(distinct.output, distinct.output, distinct.child), inputs)
      // It is refused as one of other groups is.
      case aggregate: Aggregate
          if isLater && SortBelow(aggregate.child).nonEmpty &&
            aggregate.aggregateExpressions.exists(_.exists(ReadAggregate.needsOrder)) => None
      case aggregate @ SessionAggregate(folded) if begun.version >= PlanVersion.foldedSessions =>
        sessions(aggregate, folded, inputs)
      case aggregate: Aggregate =>
        windowed(aggregate.child, inputs).flatMap(grouped(aggregate, _, inputs))
      case window: Window =>
        for {
          its <- windowed(window.child, inputs)
          if its.waits
          columns <- its.by(window.partitionSpec)
          few = ranked.filter(its => (its.window eq window) && isFew(its))
          rows = closed("OVER", its, columns, window.partitionSpec, inputs, few)
        } yield rows.of(window.withNewChildren(Seq(rows.plan)))
      case join: Join if join.children.forall(_.isStreaming) => joined(join, inputs)
      case join: Join => withTable(join, inputs)
      case _ => None
    }

  /**
   * Whether the watermark closes a column. The mark alone does not say so: a join of two streams,
   * or a ranking, may yet emit or take back a row of any time.
   */
  private def isClosed(time: Attribute, made: Project): Boolean =
    WindowTable.isClosed(time) && WindowTable.input(made.child).exists { case (rows, column) =>
      closesAtValue(read(rows), column)
    }

  private def isLater: Boolean = begun.version >= PlanVersion.laterTimes

  /** Whether the watermark closes a time, and not later than its value: windows would drop rows. */
  private def closesAtValue(rows: ChangelogOperator, time: Attribute): Boolean =
    rows.facts.eventTimes.get(time.exprId).exists(!isLater || _.after < 1000L)

  private val hasOwnPanes = begun.version >= PlanVersion.ownPanes

  private val changesWait = begun.version >= PlanVersion.changingTimes

  private def mayChange(made: Project): Boolean =
    WindowTable.input(made.child).exists { case (rows, _) => !read(rows).facts.changes.insertOnly }

  /** Expressions whose values are no matter of a window alone. */
  private def isOther(expression: Expression): Boolean =
    RowKindFunction.isIn(expression) || SubqueryExpression.hasSubquery(expression)

  private val findsMore = begun.version >= PlanVersion.windowsBelow

  private val findsGrids = begun.version >= PlanVersion.otherGrids

  /** Whether a node has subqueries, all of them over tables, which need nothing of a window. */
  private def readsTables(plan: LogicalPlan): Boolean = findsMore && (plan match {
    case _: Filter | _: Project =>
      !plan.expressions.exists(RowKindFunction.isIn) &&
      plan.expressions.flatMap(_.collect { case its: SubqueryExpression => its })
        .forall(!_.plan.isStreaming)
    case _ => false
  })

  /** A subquery is read with the rows of open windows, as below other operators. */
  private def mayRead(plan: LogicalPlan, its: Windowed): Boolean =
    !its.isClosed || !plan.expressions.exists(SubqueryExpression.hasSubquery)

  /** The names that a projection gives a column. */
  private def renamed(columns: Seq[NamedExpression]): Attribute => Seq[Attribute] = {
    val names = ColumnFacts.renamed(columns).groupMap(_._1)(_._2)
    column =>
      names.getOrElse(
        column.exprId,
        Nil).flatMap(to => columns.find(_.exprId == to)).map(_.toAttribute)
  }

  /** The columns that all rows of an input row have from it, as those of all grouping sets. */
  private def passedOn(expand: Expand): Seq[NamedExpression] =
    expand.output.zip(expand.projections.transpose).collect {
      case (column, (first: Attribute) +: others) if others.forall(_.semanticEquals(first)) =>
        Alias(first, column.name)(column.exprId)
    }

  /** Rows of several inputs with the same windows. Those of closed ones come together. */
  private def united(union: Union, inputs: ArrayBuffer[ChangelogOperator]): Option[Windowed] = {
    val all = union.children.map(windowed(_, inputs))
    if (all.exists(_.isEmpty) || all.flatten.map(_.isClosed).distinct.size > 1 ||
      inputs.map(heldBack).distinct.size > 1) None
    else {
      def placeOf(child: LogicalPlan, column: Attribute) =
        child.output.indexWhere(_.exprId == column.exprId)
      val (first, names) = (all.head.get, union.output)
      val places = union.children.zip(all.flatten).map { case (child, its) =>
        (
          // Closed windows of other lengths are grouped like others.
          its.windows.map(w =>
            (
              placeOf(child, w.start),
              placeOf(child, w.end),
              if (findsMore && its.isClosed) None else w.ends)),
          its.times.map { case (column, after) => placeOf(child, column) -> after })
      }
      val windows =
        if (!findsGrids) places.map(_._1).reduce(_ & _)
        else {
          // Ends of windows of several grids are looked for whenever the watermark advances.
          def ends(start: Int, end: Int) =
            places.flatMap(_._1.collect { case (`start`, `end`, of) => of }).distinct match {
              case Seq(of) => of
              case _ => None
            }
          places.map(_._1.map { case (start, end, _) => (start, end) }).reduce(_ & _)
            .map { case (start, end) => (start, end, ends(start, end)) }
        }
      val times = places.map(_._2.toSet).reduce(_ & _)
      val its = Windowed(
        windows.map { case (start, end, ends) =>
          WindowTable.Columns(names(start), names(end), ends)
        },
        times.map { case (place, after) => names(place) -> after }.toMap,
        first.isClosed,
        union.copy(children = all.flatten.map(_.plan)),
        all.flatten.exists(_.changes)
      )
      Some(its).filter(its => its.isClosed || its.windows.nonEmpty)
    }
  }

  private def session(
      parts: SessionTable.Parts,
      inputs: ArrayBuffer[ChangelogOperator]): Option[Windowed] = {
    val below = new ComputedColumns(Some("_session"))
    val rows = rowsOf(parts)
    val keys = parts.keys.map(key => below.of(StateTypes.normalForm(key)))
    StateTypes.require("SESSION", keys)
    val held = HeldSessions(
      keys.distinctBy(_.exprId),
      parts.time,
      parts.gap,
      parts.start,
      parts.end,
      below.over(rows))
    WindowTable.unapply(parts.named).map { case (columns, time) =>
      val named = parts.named.copy(child = input(held, inputs))
      Windowed(Set(columns), Map(columns.end -> 0L, time -> 1L), isClosed = true, named)
    }
  }

  private def rowsOf(parts: SessionTable.Parts): ChangelogOperator = {
    val rows = insertOnly("SESSION", read(parts.rows))
    if (!closesAtValue(rows, parts.column)) {
      throw ChangelogErrors.unsupportedOperator(
        "SESSION",
        "no watermark closes its column of time: it has none, or lost it below, or closes it later",
        "set a watermark on the column of a source, and call SESSION on it or above filters, " +
          "projections, unions and joins with tables"
      )
    }
    rows
  }

  /** An aggregate by sessions that are open keeps its groups until they close. */
  private def sessions(
      aggregate: Aggregate,
      folded: FoldedSessions,
      inputs: ArrayBuffer[ChangelogOperator]): Option[Windowed] = {
    rowsOf(folded.parts)
    val rows = computable(
      "Aggregate",
      ReadAggregate.evaluated(folded.aggregate),
      read(folded.aggregate.child))
    val asked = ReadAggregate(folded.aggregate, ttlMs = 0L, rows, Some(folded.end))
    val groups = Projection(asked.columns, asked.operator.copy(gap = Some(folded.parts.gap)))
    val its = Windowed(
      Set(folded.columns),
      Map(folded.columns.end -> 0L) ++ folded.time.map(_ -> 1L),
      isClosed = true,
      aggregate)
    its.of(input(groups, inputs), aggregate.aggregateExpressions)
  }

  /** An aggregate by windows that are open keeps its groups until they close. */
  private def grouped(
      aggregate: Aggregate,
      its: Windowed,
      inputs: ArrayBuffer[ChangelogOperator]): Option[Windowed] =
    its.by(aggregate.groupingExpressions).flatMap { columns =>
      val keys = aggregate.aggregateExpressions
      val session =
        if (hasOwnPanes) SessionGroups.of(aggregate.groupingExpressions).toSeq else Nil
      if (its.isClosed) its.of(aggregate.copy(child = its.plan), keys)
      // Spark merges the sessions of the rows of a window.
      else if (session.nonEmpty) {
        val others = aggregate.groupingExpressions.filterNot(session.contains)
        val rows = closed("GROUP BY", its, columns, others, inputs)
        rows.of(aggregate.copy(child = rows.plan), keys)
      } else {
        val overPanes = Some(aggregate.copy(child = its.plan))
          .filter(_ => begun.choices.usesPanes && !(its.changes && changesWait))
          .collect { case ReadPanes(panes) if !hasOwnPanes || panes.areOf(columns) => panes }
          .flatMap(_.apply(atClose = true, isMarked = true, read, computable("Aggregate", _, _)))
        val asked = overPanes.getOrElse {
          val rows = computable("Aggregate", ReadAggregate.evaluated(aggregate), read(its.plan))
          val copied = ReadAggregate(aggregate, ttlMs = 0L, rows)
          copied.copy(operator =
            copied.operator.copy(once = Some(columns.end), ends = columns.ends))
        }
        val groups = Projection(asked.columns, asked.operator)
        its.copy(isClosed = true, changes = false).of(input(groups, inputs), keys)
      }
    }

  /** A join of streams: all rows of a window of one meet rows of the same window of the other. */
  private def joined(join: Join, inputs: ArrayBuffer[ChangelogOperator]): Option[Windowed] = {
    val all = join.condition.toSeq.flatMap(splitConjunctivePredicates)
    def pairs(l: Windowed, r: Windowed) = all.collect {
      case EqualTo(a: Attribute, b: Attribute) if l.plan.outputSet.contains(a) => (a, b)
      case EqualTo(a: Attribute, b: Attribute) => (b, a)
    }.filter { case (a, b) => l.plan.outputSet.contains(a) && r.plan.outputSet.contains(b) }
    for {
      l <- windowed(join.left, inputs)
      r <- windowed(join.right, inputs)
      if l.waits && r.waits
      equal = pairs(l, r)
      ofLeft <- l.by(equal.map(_._1))
      ofRight <- r.windows.find { w =>
        Seq(ofLeft.start -> w.start, ofLeft.end -> w.end).forall { case (a, b) =>
          equal.exists { case (x, y) => x.exprId == a.exprId && y.exprId == b.exprId }
        }
      }
      left = closed("JOIN", l, ofLeft, equal.map(_._1), inputs)
      right = closed("JOIN", r, ofRight, equal.map(_._2), inputs)
      kept <- join.joinType match {
        case Inner | Cross => Some((left.windows ++ right.windows, left.times ++ right.times))
        case LeftOuter | LeftSemi | LeftAnti | _: ExistenceJoin => Some((left.windows, left.times))
        case RightOuter => Some((right.windows, right.times))
        case FullOuter => Some((Set.empty[WindowTable.Columns], Map.empty[Attribute, Long]))
        case _ => None
      }
      if inputs.map(heldBack).distinct.size <= 1
    } yield Windowed(
      kept._1,
      kept._2,
      isClosed = true,
      join.copy(left = left.plan, right = right.plan, hint = JoinHint(isStream, isStream)))
  }

  // Spark would broadcast rows before a part that they are read from is computed.
  private val isStream = Some(HintInfo(strategy = Some(NO_BROADCAST_HASH)))

  /**
   * By how much the watermark that closes windows is held back, in microseconds. Windows that close
   * in other micro-batches cannot meet in the operators above.
   */
  private def heldBack(operator: ChangelogOperator): Long = {
    val below = operator.inputs.map(heldBack).maxOption.getOrElse(0L)
    operator match {
      case join: StreamJoin => below + join.heldBackMicros
      case _ => below
    }
  }

  /**
   * A join with a table that is no stream, which Spark runs row by row. The optimizer must not see
   * that a table is empty: it would leave out the operators below the join, and their state.
   */
  private def withTable(join: Join, inputs: ArrayBuffer[ChangelogOperator]): Option[Windowed] =
    if (!StatelessSource.isSparks(join)) None
    else if (join.left.isStreaming) {
      val hint = join.hint.copy(leftHint = isStream)
      windowed(join.left, inputs).map(its =>
        its.of(join.copy(left = its.plan, right = table(join.right), hint = hint)))
    } else {
      val hint = join.hint.copy(rightHint = isStream)
      windowed(join.right, inputs).map(its =>
        its.of(join.copy(left = table(join.left), right = its.plan, hint = hint)))
    }

  private def table(plan: LogicalPlan): LogicalPlan =
    if (ReadByKey.isBelow(plan)) plan else TableRows(plan)

  /**
   * The rows of closed windows; rows of open ones wait.
   *
   * @param first the ranking above, if its first rows are enough: it ranks them again
   */
  private def closed(
      operator: String,
      its: Windowed,
      columns: WindowTable.Columns,
      by: Seq[Expression],
      inputs: ArrayBuffer[ChangelogOperator],
      first: Option[RankedWindow] = None): Windowed =
    if (its.isClosed) its
    else {
      val rows = insertOnly(operator, read(its.plan))
      val areKeys = rows.output.forall(column => StateTypes.comparesAsBytes(column.dataType))
      val held = first.filter(_ => areKeys).fold[ChangelogOperator] {
        val spread = by.collect {
          case column: Attribute if StateTypes.comparesAsBytes(column.dataType) => column
        }
        HeldRows((spread :+ columns.end).distinctBy(_.exprId), columns.end, columns.ends, rows)
      }(_.atClose(columns.end, columns.ends, rows))
      its.copy(isClosed = true, plan = input(held, inputs))
    }

  /** A change reads as many rows of a partition as there are places. */
  private def isFew(ranked: RankedWindow): Boolean =
    begun.version >= PlanVersion.firstOfWindows && ranked.to <= 100L && ranked.ttl.isEmpty &&
      ranked.expressions.forall(_.deterministic)

  private def insertOnly(operator: String, rows: ChangelogOperator): ChangelogOperator =
    if (rows.facts.changes.insertOnly) rows
    else throw ChangelogErrors.unsupportedOperator(
      s"$operator of windows",
      "rows of its input may be deleted or updated",
      "write it above an aggregate by window_start and window_end")

  private def input(
      operator: ChangelogOperator,
      inputs: ArrayBuffer[ChangelogOperator]): LogicalPlan = {
    inputs += operator
    WindowedInput(inputs.size - 1, operator.output, operator.output)
  }
}

private[changelog] object ReadWindows {

  /** Whether a stream asks something of windows that a watermark closes. */
  def areIn(plan: LogicalPlan): Boolean = plan.isStreaming && plan.exists {
    case SessionTable(_) => true
    case WindowTable(_, time) => WindowTable.isClosed(time)
    case _ => false
  } && plan.exists {
    case _: Aggregate | _: Distinct | _: Window | _: Join => true
    case _ => false
  }
}
