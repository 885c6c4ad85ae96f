package io.firesteel.changelog.rules

import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.core.decide.Decline

import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, Expression, OuterReference, PredicateHelper, ScalarSubquery, SubqueryExpression}
import org.apache.spark.sql.catalyst.optimizer.{PullupCorrelatedPredicates, RewriteCorrelatedScalarSubquery, RewritePredicateSubquery}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, AnalysisHelper, Filter, Join, JoinHint, LocalRelation, LogicalPlan, Project, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Writes subqueries over streams as joins, which a changelog can run: `IN`, `EXISTS` and their
 * negations as semi and anti joins, below `OR` as a column of a join, a correlated value as a left
 * join with an aggregate. Spark's optimizer has these rewrites; a stream never reaches them, because
 * the analyser refuses it in a subquery. What they cannot write stays as it is, with Spark's error.
 */
object RewriteStreamSubqueries extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(readsStreams) || isOff) plan
    else AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformUp {
        case node: UnaryNode if node.resolved && readsStreams(node) && isOne(node) => joined(node)
      }
    }

  private def isOff: Boolean = Decline.switchedOff("changelog", ChangelogConf.ENABLED).nonEmpty

  private def readsStreams(node: LogicalPlan): Boolean =
    node.expressions.exists(_.exists(isOfStream))

  private def isOfStream(e: Expression): Boolean = e match {
    case subquery: SubqueryExpression => subquery.plan.isStreaming
    case _ => false
  }

  private def isOne(node: UnaryNode): Boolean = node match {
    case _: Filter | _: Project | _: Aggregate => true
    case _ => false
  }

  /** Spark's rules see the node alone: they would rewrite subqueries over tables below it. */
  private def joined(node: UnaryNode): LogicalPlan = {
    val below = LocalRelation(node.child.output, Nil, isStreaming = true)
    val (plain, asking) = node match {
      case Filter(condition, _) => splitConjunctivePredicates(condition).partition(isPlain)
      case _ => (Nil, Nil)
    }
    // Subqueries of subqueries first.
    val alone =
      asking.reduceOption(And(_, _)).fold(node.withNewChildren(Seq(below)))(Filter(_, below))
    val inner = alone.transformExpressions {
      case subquery: SubqueryExpression if isOfStream(subquery) =>
        subquery.withNewPlan(apply(subquery.plan))
    }
    val correlated = RewriteCorrelatedScalarSubquery(PullupCorrelatedPredicates(inner))
    val all = values(RewritePredicateSubquery(correlated))
    if (all.exists(left => left.expressions.exists(isLeft))) node
    else {
      // Conditions without a subquery stay below the joins, which then have fewer rows.
      val child = plain.reduceOption(And(_, _)).fold(node.child)(Filter(_, node.child))
      all.transform { case leaf if leaf eq below => child }
    }
  }

  private def isPlain(condition: Expression): Boolean =
    condition.deterministic && !SubqueryExpression.hasSubquery(condition)

  private def isLeft(e: Expression): Boolean =
    e.exists(part => isOfStream(part) || part.isInstanceOf[OuterReference])

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
        val rows = over.withNewChildren(Seq(input))
        if (rows.output.map(_.exprId) == node.output.map(_.exprId)) rows
        else Project(node.output: Seq[Attribute], rows)
      }
  }

  private def isValue(value: ScalarSubquery): Boolean =
    !value.isCorrelated && isOfStream(value) && value.plan.maxRows.exists(_ <= 1L)
}
