package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.{ChangelogConf, StateTypes}
import io.firesteel.changelog.sql.{InputHint, StateTtl}

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Alias, And, AttributeReference, EqualTo, Expression, GreaterThan, IsNotNull, IsNull, Literal, Not, Or}
import org.apache.spark.sql.catalyst.expressions.aggregate.Count
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, Inner, JoinType, LeftAnti}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, AnalysisHelper, Deduplicate, DeduplicateWithinWatermark, EventTimeWatermark, GlobalLimit, Join, JoinHint, LocalLimit, LogicalPlan, Offset, Project, Sample}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.BooleanType

/**
 * `a NOT IN (SELECT b ...)` of streams in parts that are spread over tasks. Spark writes it as an
 * anti join on `a = b OR (a = b) IS NULL`, which has no equality for a key: one task would compare
 * all rows. Here an anti join has `a = b` for its key, and what nulls decide stands in one row beside
 * it: whether the other side is empty, and whether it has a null.
 *
 * {{{
 * no match | the other side is empty | it has a null | a is null | NOT IN
 * ---------|-------------------------|---------------|-----------|-------
 * false    |                         |               |           | false
 * true     | true                    |               |           | true
 * true     | false                   | true          |           | null
 * true     | false                   | false         | true      | null
 * true     | false                   | false         | false     | true
 * }}}
 *
 * Several columns, and conditions on columns of both sides, have no such form and stay one join. So
 * does everything in a query with a time to live, where a count of rows would expire by itself. The
 * other side is read twice, so it stays one join, too, if its rows may be others then. And rows that
 * have an upsert key without `a` keep their task, or changes of one row would come from two.
 */
private[changelog] object SpreadNotIn {

  /** @param losesKeys whether rows lose such an upsert key, as in checkpoints of version 9 */
  def apply(losesKeys: Boolean)(query: LogicalPlan): LogicalPlan =
    if (expires(query)) query
    else AnalysisHelper.allowInvokingTransformsInAnalyzer {
      query.transformUp {
        case join: Join
            if isOfMatches(join.joinType) && join.children.forall(_.isStreaming) &&
              !join.right.exists(differs) =>
          join.condition.collect {
            case NullAware(a, b) if reads(a, join.left) && reads(b, join.right) => (a, b)
            case NullAware(a, b) if reads(b, join.left) && reads(a, join.right) => (b, a)
          }.filter { case (a, _) => losesKeys || keepsKeys(join.left, a) }
            .fold[LogicalPlan](join) { case (a, b) => spread(join, a, b) }
      }
    }

  private def isOfMatches(joinType: JoinType): Boolean = joinType match {
    case LeftAnti | _: ExistenceJoin => true
    case _ => false
  }

  /** Whether rows may be others when they are read again: the two parts must have the same rows. */
  private def differs(node: LogicalPlan): Boolean = node match {
    case _: GlobalLimit | _: LocalLimit | _: Offset | _: Sample | _: Deduplicate => true
    case _: DeduplicateWithinWatermark => true
    case other => other.expressions.exists(Repeatable.varies)
  }

  /** Whether rows that agree on an upsert key agree on a value. */
  private def keepsKeys(rows: LogicalPlan, value: Expression): Boolean =
    Try(new ParseQuery(updateBefore = true, refused = None).read(rows).facts.upsertKeys)
      .toOption.exists(_.forall(key => value.references.forall(column => key(column.exprId))))

  // An equality of event times is an interval join, whose rows leave state and may be late.
  private def reads(value: Expression, side: LogicalPlan): Boolean =
    value.deterministic && value.references.nonEmpty &&
      !value.references.exists(_.metadata.contains(EventTimeWatermark.delayKey)) &&
      value.references.subsetOf(side.outputSet) &&
      StateTypes.comparesAsBytes(StateTypes.normalForm(value).dataType)

  private def spread(join: Join, a: Expression, b: Expression): LogicalPlan = {
    def matches(joinType: JoinType) =
      Join(join.left, join.right, joinType, Some(EqualTo(a, b)), JoinHint.NONE)
    if (!a.nullable && !b.nullable) matches(join.joinType)
    else {
      val all = Alias(Count(Literal(1)).toAggregateExpression(), "rows")()
      val known = Alias(Count(b).toAggregateExpression(), "known")()
      val isEmpty = Alias(EqualTo(all.toAttribute, Literal(0L)), "is_empty")()
      val hasNull = Alias(GreaterThan(all.toAttribute, known.toAttribute), "has_null")()
      val nulls =
        Project(Seq(isEmpty, hasNull), Aggregate(Nil, Seq(all, known), join.right))
      val (none, some) = (isEmpty.toAttribute, hasNull.toAttribute)
      join.joinType match {
        case its: ExistenceJoin =>
          val found = AttributeReference("is_found", BooleanType, nullable = false)()
          val unknown = And(Not(none), Or(some, IsNull(a)))
          Project(
            join.left.output :+ Alias(Or(found, unknown), its.exists.name)(its.exists.exprId),
            Join(matches(ExistenceJoin(found)), nulls, Inner, None, JoinHint.NONE))
        case _ =>
          val isKnown = Or(none, And(Not(some), IsNotNull(a)))
          Project(
            join.left.output,
            Join(matches(LeftAnti), nulls, Inner, Some(isKnown), JoinHint.NONE))
      }
    }
  }

  private def expires(query: LogicalPlan): Boolean =
    SQLConf.get.getConf(ChangelogConf.STATE_TTL) > 0L || query.exists {
      case _: StateTtl | InputHint(Some(_), _, _) => true
      case _ => false
    }

  /** `a = b OR (a = b) IS NULL` */
  private object NullAware {
    def unapply(condition: Expression): Option[(Expression, Expression)] = condition match {
      case Or(equal @ EqualTo(a, b), IsNull(same)) if equal.semanticEquals(same) => Some((a, b))
      case _ => None
    }
  }
}
