package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.{ChangelogConf, ChangelogErrors}
import io.firesteel.changelog.plan.{ChangeEvents, ChangelogOperator, Expansion, Generation, MatchedRows, Projection, Selection, Source, SplitDistinct, UnionAll, UserText}
import io.firesteel.changelog.sql.{FromChangelog, RowKindFunction, StateTtl}
import org.apache.spark.sql.catalyst.expressions.{And, Attribute, CurrentCatalog, CurrentDatabase, CurrentTimeZone, CurrentUser, Expression, NamedExpression, SubqueryExpression, UserDefinedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Distinct, Expand, Filter, Generate, GlobalLimit, Join, LocalLimit, LogicalPlan, Offset, Project, SubqueryAlias, Union, View, Window}
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.internal.SQLConf

/**
 * Reads an analysed query as operators of a changelog, or refuses it with the operator's name, the
 * reason and what works instead.
 *
 * @param updateBefore whether `row_kind()` shows update-before rows
 * @param refused what Spark says against the query, if it does
 * @param ttlMs how long state is kept; 0, forever
 */
final private[changelog] class ParseQuery(
    updateBefore: Boolean,
    refused: Option[String],
    private val ttlMs: Long = SQLConf.get.getConf(ChangelogConf.STATE_TTL)) {

  def read(plan: LogicalPlan): ChangelogOperator = plan match {
    case StatelessSource(rows) => Source(rows)
    case from: FromChangelog => ReadSource(from, ttlMs)
    case StateTtl(ms, child) => keeping(Some(ms)).read(child)
    case alias: SubqueryAlias => read(alias.child)
    case view: View => read(view.child)
    case project: Project => this.project(project.projectList, read(project.child))
    case asking: Aggregate =>
      val rows = noEvents("Aggregate", read(asking.child))
      val kept = KeptSubqueries.of(asking.expressions, rows, ttlMs)
      val (aggregate, input) = kept.fold((asking, rows)) { its =>
        (asking.mapExpressions(its(_)).asInstanceOf[Aggregate], its.input)
      }
      val grouped = ReadAggregate(
        aggregate,
        ttlMs,
        computable("Aggregate", ReadAggregate.evaluated(aggregate), input))
      project(grouped.columns, SplitDistinct(grouped.operator))
    case distinct: Distinct =>
      ReadAggregate.distinct(ttlMs, noEvents("DISTINCT", read(distinct.child)))
    case union: Union =>
      UnionAll(union.children.map(c => noEvents("UNION", read(c))), union.output)
    case filter: Filter => this.filter(filter)
    case generate: Generate =>
      val input = noEvents("Generate", read(generate.child))
      Generation(
        generate.generator,
        generate.outer,
        generate.generatorOutput,
        computable("Generate", Seq(generate.generator), input))
    case expand: Expand =>
      val input = noEvents("Expand", read(expand.child))
      Expansion(
        expand.projections,
        expand.output,
        computable("Expand", expand.projections.flatten, input))
    case join: Join if join.children.exists(!_.isStreaming) =>
      ReadJoin(
        join,
        ttlMs,
        stream => computable("Join", join.condition.toSeq, noEvents("Join", read(stream))))
    case _: GlobalLimit | _: LocalLimit | _: Offset => limit(plan)
    case other => throw Unsupported(other, refused)
  }

  /** The same, with state below it kept so long, if a hint says so. */
  private def keeping(ttl: Option[Long]): ParseQuery =
    ttl.fold(this)(new ParseQuery(updateBefore, refused, _))

  /** A projection; with `row_kind()` in it, the place where changes become rows. */
  private def project(
      columns: Seq[NamedExpression],
      input: ChangelogOperator): ChangelogOperator =
    KeptSubqueries.of(columns, input, ttlMs) match {
      case Some(kept) => project(columns.map(kept(_)), kept.input)
      case None if columns.exists(RowKindFunction.isIn) =>
        ChangeEvents(
          columns,
          updateBefore,
          noEvents("row_kind()", repeatable("Project", columns, input)))
      case None => Projection(columns, repeatable("Project", columns, input))
    }

  private def filter(filter: Filter): ChangelogOperator = filter match {
    case asking if RowKindFunction.isIn(asking.condition) =>
      throw ChangelogErrors.misplacedRowKind("a filter")
    // The bound of a place may be in either.
    case Filter(above, FilterBelow(below, columns))
        if above.deterministic && Projected.of(below.child).below.isInstanceOf[Window] =>
      project(columns, this.filter(Filter(And(below.condition, above), below.child)))
    case RankedWindow(ranked) => this.ranked(ranked, filter.child.output)
    case ReadJoin.Filtered(join) => read(join)
    // HAVING has the SELECT's kinds below it, whose rows it is to leave out.
    case Filter(condition, grouped) if SelectedKinds.isOfGroups(grouped) =>
      having(condition, read(grouped))
    case plain => select(plain.condition, read(plain.child))
  }

  /** QUALIFY has the SELECT's kinds below it, too: they are asked for above what it leaves. */
  private def ranked(ranked: RankedWindow, output: Seq[Attribute]): ChangelogOperator = {
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

  /** Below the place where changes become rows, unless it asks for their kinds. */
  private def having(condition: Expression, result: ChangelogOperator): ChangelogOperator =
    result match {
      case ChangeEvents(columns, before, input) =>
        val (kinds, others) = columns.partition(RowKindFunction.isIn)
        if (SelectedKinds.reads(condition, kinds)) select(condition, result)
        else {
          // Computed once, below both; with what is computed of kinds.
          val below = Projection(SelectedKinds.withReadBy(kinds, others), input)
          val shown = columns.map(c => if (kinds.contains(c)) c else c.toAttribute)
          ChangeEvents(shown, before, select(condition, below))
        }
      // What is computed of other columns of the SELECT stands above it.
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
   * Below projections, as Spark's optimiser has it: what is computed of rows that the condition leaves
   * out may fail. Functions of the user's stay above, not to be called twice, and subqueries, which may
   * ask for columns by the names that they have there; and rows of matches, which are read as they are.
   */
  private def select(condition: Expression, input: ChangelogOperator): ChangelogOperator =
    input match {
      case rows @ Projection(columns, below)
          if !MatchedRows.are(rows) && condition.deterministic && columns.forall(_.deterministic) &&
            !SubqueryExpression.hasSubquery(condition) && !asksUsersFunctions(condition, columns) =>
        Projection(columns, select(SelectedKinds.inTermsOf(columns, condition), below))
      case _ =>
        KeptSubqueries.of(Seq(condition), input, ttlMs) match {
          case Some(kept) => Projection(input.output, Selection(kept(condition), kept.input))
          case None => Selection(condition, repeatable("Filter", Seq(condition), input))
        }
    }

  private def asksUsersFunctions(condition: Expression, columns: Seq[NamedExpression]): Boolean =
    columns.exists { column =>
      condition.references.contains(column.toAttribute) &&
      column.exists(_.isInstanceOf[UserDefinedExpression])
    }

  private def limit(plan: LogicalPlan): ChangelogOperator = plan match {
    case SortedLimit(sorted) =>
      val its = keeping(sorted.ttl)
      val input = noEvents("LIMIT", its.read(sorted.sort.child))
      val topN = sorted.operator(computable("LIMIT", sorted.sort.order, input), its.ttlMs)
      sorted.projections.reverse.foldLeft(topN)((op, list) => project(list, op))
    case _ => throw Unsupported(plan, refused)
  }

  /**
   * A row must be taken back as it was given: over an input that changes, expressions may not have
   * another value the next time.
   */
  private def repeatable(
      operator: String,
      expressions: Seq[Expression],
      input: ChangelogOperator): ChangelogOperator = {
    if (!input.facts.changes.insertOnly) {
      expressions.find(ParseQuery.varies).foreach { e =>
        throw ChangelogErrors.notRepeatable(operator, UserText.of(e))
      }
    }
    input
  }

  /** The same of expressions that are no columns of the result: kinds cannot be asked for in them. */
  private def computable(
      operator: String,
      expressions: Seq[Expression],
      input: ChangelogOperator): ChangelogOperator = {
    if (expressions.exists(RowKindFunction.isIn)) {
      throw ChangelogErrors.misplacedRowKind(operator)
    }
    repeatable(operator, expressions, input)
  }

  /** Above `row_kind()` rows are changes: counting or ranking them answers another question. */
  private def noEvents(operator: String, input: ChangelogOperator): ChangelogOperator = {
    def has(op: ChangelogOperator): Boolean =
      op.isInstanceOf[ChangeEvents] || op.inputs.exists(has)
    if (has(input)) throw ChangelogErrors.misplacedRowKind(operator)
    input
  }
}

/** A filter, and the columns that are left of its result: nothing else has come in between. */
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

private[changelog] object ParseQuery {

  /** Whether the expression may have another value when it is evaluated again. */
  private def varies(expression: Expression): Boolean =
    !expression.deterministic || expression.exists(isCurrent) ||
      SubqueryExpression.hasSubquery(expression)

  /** The time, which passes; the zone, the user and the catalog of a running query stay. */
  private def isCurrent(expression: Expression): Boolean = expression match {
    case _: CurrentTimeZone | _: CurrentUser | _: CurrentDatabase | _: CurrentCatalog => false
    case other =>
      other.containsPattern(CURRENT_LIKE) && !other.children.exists(_.containsPattern(CURRENT_LIKE))
  }
}
