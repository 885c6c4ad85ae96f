package io.firesteel.changelog.rules

import io.firesteel.changelog.common.{ChangelogConf, CountedRows, SimpleConditions, SingleJoins, TooManyRows}

import io.firesteel.changelog.plan.parse.conditions.{JoinSubqueries, NarrowerJoins, SideSubqueries}
import io.firesteel.core.decide.Decline

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeSet, Exists, Expression, ExprId, GreaterThan, If, InSubquery, LateralSubquery, ListQuery, Literal, NamedExpression, Not, OuterReference, PredicateHelper, RowNumber, ScalarSubquery, SubqueryExpression, WindowExpression}
import org.apache.spark.sql.catalyst.analysis.UpdateOuterReferences
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Count, First}
import org.apache.spark.sql.catalyst.optimizer.{PullupCorrelatedPredicates, RewriteCorrelatedScalarSubquery, RewriteLateralSubquery, RewritePredicateSubquery}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, AnalysisHelper, CTERelationRef, Filter, Join, JoinHint, LateralJoin, LocalRelation, LogicalPlan, Project, Sort, UnaryNode, Window, WithCTE}
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Writes subqueries over streams as joins, which a changelog can run: `IN`, `EXISTS` and their
 * negations as semi and anti joins, below `OR` as a column of a join, a correlated value as a left
 * join with an aggregate. Spark's optimizer has these rewrites; a stream never reaches them,
 * because the analyser refuses it in a subquery. What they cannot write stays as it is, with
 * Spark's error.
 */
object RewriteStreamSubqueries extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(readsStreams) || isOff) plan
    else AnalysisHelper.allowInvokingTransformsInAnalyzer {
      inlined(plan).fold(plan)(whole => rewritten(NarrowerJoins.in(whole)(readsStreams)))
    }

  /**
   * Writes each `WITH` into its places if a correlated subquery has one: Spark's rules do not look
   * into it. Spark also runs this rule on a subquery alone. If that reads a `WITH` outside of
   * itself, the answer is none: its time comes with the whole query.
   */
  private def inlined(plan: LogicalPlan): Option[LogicalPlan] = {
    def has = plan.collectWithSubqueries { case node => node.expressions.exists(_.exists(hasWith)) }
    if (!plan.resolved || !has.contains(true)) Some(plan)
    else {
      val own = plan.collectWithSubqueries { case WithCTE(_, definitions) => definitions.map(_.id) }
      val read = plan.collectWithSubqueries { case reading: CTERelationRef => reading.cteId }
      Option.when(read.forall(own.flatten.toSet)) {
        WholeQuery.requireOneAnswer(plan)
        WholeQuery.inlined(plan)
      }
    }
  }

  private def hasWith(e: Expression): Boolean = e match {
    case subquery: SubqueryExpression =>
      isOfStream(subquery) && subquery.isCorrelated && subquery.plan.exists(_.isInstanceOf[WithCTE])
    case _ => false
  }

  private def rewritten(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case join: LateralJoin if join.resolved && readsStreams(join) => joined(join)
    case join: Join if join.resolved && readsStreams(join) =>
      JoinSubqueries.unapply(join).fold(ofSides(join))(filter => joined(apart(filter)))
    case node: UnaryNode
        if node.resolved && readsStreams(node) && isOne(node) &&
          !node.expressions.exists(_.exists(isOfResults)) =>
      joined(apart(settled(node)))
  }

  private def ofSides(join: Join): LogicalPlan =
    SideSubqueries(join, isOfStream) { side =>
      Some(joined(side)).filterNot(_.expressions.exists(_.exists(isOfStream)))
    }.getOrElse(join)

  /**
   * Where a condition of groups has a subquery that is correlated by an aggregate, as
   * `max(outer.v)`, Spark writes the aggregate's column in its place, but only later.
   */
  private def settled(node: UnaryNode): UnaryNode = node match {
    case Filter(_, _: Aggregate) => UpdateOuterReferences(node).asInstanceOf[UnaryNode]
    case other => other
  }

  private def isOff: Boolean = Decline.switchedOff("changelog", ChangelogConf.ENABLED).nonEmpty

  private def readsStreams(node: LogicalPlan): Boolean =
    node.expressions.exists(_.exists(isOfStream))

  private def isOfStream(e: Expression): Boolean = e match {
    case subquery: SubqueryExpression => subquery.plan.isStreaming
    case _ => false
  }

  /**
   * Spark refuses a subquery that is correlated by an aggregate outside of `HAVING` in a batch,
   * too.
   */
  private def isOfResults(e: Expression): Boolean = isOfStream(e) &&
    e.children.exists(_.exists(_.isInstanceOf[AggregateExpression]))

  private def isOne(node: UnaryNode): Boolean = node match {
    case _: Filter | _: Project | _: Aggregate => true
    case _ => false
  }

  /**
   * Conditions that read no stream go below: a subquery over a table stays a subquery. Values
   * beside the results of an aggregate of all rows go above: it has a result of no rows, too.
   */
  private def apart(node: UnaryNode): UnaryNode = node match {
    case whole: Aggregate if whole.groupingExpressions.isEmpty && readsBesideCalls(whole) =>
      val found = whole.aggregateExpressions
        .flatMap(_.collect { case call: AggregateExpression => call }).distinctBy(_.canonicalized)
      val calls = if (found.isEmpty) Seq(count) else found
      val named = calls.map(call => Alias(call, call.aggregateFunction.prettyName)())
      val results = whole.copy(aggregateExpressions = named)
      Project(
        whole.aggregateExpressions.map(_.transform { case call: AggregateExpression =>
          named(calls.indexWhere(_.canonicalized == call.canonicalized)).toAttribute
        }.asInstanceOf[NamedExpression]),
        if (readsStreams(results)) joined(results) else results
      )
    case Filter(condition, child) if condition.deterministic =>
      val (ofStreams, others) =
        splitConjunctivePredicates(condition).partition(_.exists(isOfStream))
      others.reduceOption(And(_, _))
        .fold[UnaryNode](node)(below => Filter(ofStreams.reduce(And(_, _)), Filter(below, child)))
    case other => other
  }

  private def readsBesideCalls(whole: Aggregate): Boolean =
    whole.aggregateExpressions.map(_.transform { case call: AggregateExpression =>
      Literal(null, call.dataType)
    }).exists(_.exists(isOfStream))

  /** Spark's rules see the node alone: they would rewrite subqueries over tables below it. */
  private def joined(node: UnaryNode): LogicalPlan = {
    val below = LocalRelation(node.child.output, Nil, isStreaming = true)
    val inner = node.withNewChildren(Seq(below)).transformExpressions {
      case subquery: SubqueryExpression if isOfStream(subquery) =>
        asValue(subquery.withNewPlan(CountedRows.in(rewritten(subquery.plan))))
    }
    // Subqueries of subqueries are joins already.
    // `NOT (a IN (...) AND b)` becomes `NOT IN`: below `NOT`, a null must not be a false.
    val simple = SimpleConditions.in(readApart(inner))
    val correlated = RewriteCorrelatedScalarSubquery(PullupCorrelatedPredicates(simple))
    val single = SingleJoins.counted(named(RewritePredicateSubquery(correlated)))
    val all = named(ranked(values(single)))
    // A value that is compared by `<` is computed for each left value: these are read a second time.
    val varies = node.child.exists(varying.isAt) && all.collectLeaves().count(_ eq below) > 1
    if (varies || all.exists(left => left.expressions.exists(isLeft))) node
    else all.transform { case leaf if leaf eq below => node.child }
  }

  /**
   * Two readings of a stream have the same ids of columns. Those of a table do not, and Spark's
   * rules take two values of one id for the same value, and a list of `NOT IN` below `OR` for the
   * left side.
   */
  private def readApart(node: LogicalPlan): LogicalPlan = {
    val seen = mutable.Map.empty[ExprId, Expression] // the value that has a column
    val apart = mutable.Map.empty[Expression, Expression]
    val whole = node match {
      case filter: Filter => splitConjunctivePredicates(filter.condition).map {
          case not: Not => not.child
          case other => other
        }.collect { case in: InSubquery => in.query.exprId }
      case _ => Nil
    }
    node.transformExpressions {
      case value: ScalarSubquery if value.isCorrelated && isOfStream(value) =>
        // `GROUP BY 1` has a copy of a value, which stays the same value.
        apart.getOrElseUpdate(
          value.canonicalized, {
            val isNew = value.plan.output.forall { column =>
              seen.getOrElseUpdate(column.exprId, value.canonicalized) == value.canonicalized
            }
            if (isNew) value else value.withNewPlan(withOwnIds(value.plan))
          }
        )
      case list: ListQuery
          if isOfStream(list) && !whole.contains(list.exprId) &&
            AttributeSet(list.plan.output).intersect(node.inputSet).nonEmpty =>
        list.withNewPlan(withOwnIds(list.plan))
    }
  }

  private def withOwnIds(plan: LogicalPlan): LogicalPlan =
    Project(plan.output.map(column => Alias(column, column.name)()), plan)

  /** A correlated `ORDER BY ... LIMIT` becomes a ranking. */
  private def joined(join: LateralJoin): LogicalPlan = {
    val below = LocalRelation(join.left.output, Nil, isStreaming = true)
    val inner =
      join.right.withNewPlan(
        CountedRows.in(rewritten(join.right.plan))).asInstanceOf[LateralSubquery]
    val all =
      named(ranked(RewriteLateralSubquery(PullupCorrelatedPredicates(join.copy(below, inner)))))
    // Some read the left rows a second time, so these must be the same rows.
    val varies = join.left.exists(_.expressions.exists(!_.deterministic))
    if (varies || all.exists(_.isInstanceOf[LateralJoin])) join
    else all.transform { case leaf if leaf eq below => join.left }
  }

  /**
   * Spark numbers the rows of a correlated `ORDER BY ... LIMIT` as a sort below has left them, if
   * the order reads a column that is not selected. The numbers take the order instead. Spark also
   * adds the keys of a subquery to the functions of a window, whose input has them already.
   */
  private def ranked(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case window: Window if window.windowExpressions.exists(_.isInstanceOf[Attribute]) =>
      val functions = window.windowExpressions.filterNot(_.isInstanceOf[Attribute])
      window.copy(windowExpressions = functions)
    case window: Window if window.orderSpec.isEmpty =>
      (window.windowExpressions, window.child) match {
        case (Seq(number @ Alias(call: WindowExpression, _)), rows @ Project(_, sort: Sort))
            if call.windowFunction.isInstanceOf[RowNumber] && sort.global &&
              AttributeSet(window.partitionSpec).subsetOf(sort.child.outputSet) =>
          val spec = call.windowSpec.copy(orderSpec = sort.order)
          val its =
            number.withNewChildren(Seq(call.copy(windowSpec = spec))).asInstanceOf[NamedExpression]
          Project(
            rows.projectList :+ its.toAttribute,
            window.copy(
              windowExpressions = Seq(its),
              orderSpec = sort.order,
              child = sort.child))
        case _ => window
      }
  }

  /**
   * Spark names a column that it gives a second id by the first one, as `v#12L`. A checkpoint has
   * names of columns, and ids differ at each start.
   */
  private def named(plan: LogicalPlan): LogicalPlan = plan.transformAllExpressions {
    case alias @ Alias(column: Attribute, name)
        if name.startsWith(s"${column.name}#") && id.matches(name.drop(column.name.length)) =>
      alias.copy(name = column.name)(
        alias.exprId,
        alias.qualifier,
        alias.explicitMetadata,
        alias.nonInheritableMetadataKeys)
  }

  private val varying = new Varying(ofTables = true, again = false)

  private val id = """#\d+L?(-T\d+ms)?""".r

  private def isLeft(e: Expression): Boolean =
    e.exists(part => isOfStream(part) || part.isInstanceOf[OuterReference])

  /**
   * `EXISTS` of the same rows for all is a count. A value of many rows is an error, as in a batch
   * query.
   */
  private def asValue(subquery: SubqueryExpression): Expression = subquery match {
    case exists: Exists if !exists.isCorrelated =>
      ScalarSubquery(aggregate(GreaterThan(count, Literal(0L)), exists.plan))
    case value: ScalarSubquery if !value.isCorrelated && !isValue(value) =>
      val tooMany = TooManyRows(value.dataType)
      val first = First(value.plan.output.head, ignoreNulls = false).toAggregateExpression()
      value.withNewPlan(aggregate(If(GreaterThan(count, Literal(1L)), tooMany, first), value.plan))
    case other => other
  }

  private def count: AggregateExpression = Count(Literal(1)).toAggregateExpression()

  private def aggregate(value: Expression, rows: LogicalPlan): LogicalPlan =
    Aggregate(Nil, Seq(Alias(value, "value")()), rows)

  /** One value of a stream, such as the average of all rows: each row is joined with it. */
  private def values(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case node: UnaryNode if isOne(node) =>
      val all = node.expressions
        .flatMap(_.collect { case value: ScalarSubquery if isValue(value) => value })
        .distinctBy(_.canonicalized)
      if (all.isEmpty) node
      else {
        val named = all.map(value => Alias(value.plan.output.head, "value")())
        val input = all.zip(named).foldLeft(node.child) { case (rows, (value, column)) =>
          Join(rows, Project(Seq(column), value.plan), LeftOuter, None, JoinHint.NONE)
        }
        val over = node.transformExpressions {
          case value: ScalarSubquery if isValue(value) =>
            named(all.indexWhere(_.canonicalized == value.canonicalized)).toAttribute
        }
        val rows = over.withNewChildren(Seq(input)) match {
          // All rows have the same value, so it divides no group.
          case grouped: Aggregate if grouped.groupingExpressions.nonEmpty =>
            grouped.copy(groupingExpressions = grouped.groupingExpressions ++
              named.map(_.toAttribute))
          case other => other
        }
        if (rows.output.map(_.exprId) == node.output.map(_.exprId)) rows
        else Project(node.output: Seq[Attribute], rows)
      }
  }

  private def isValue(value: ScalarSubquery): Boolean =
    !value.isCorrelated && isOfStream(value) && value.plan.maxRows.exists(_ <= 1L)
}
