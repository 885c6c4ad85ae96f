package io.firesteel.changelog.common

import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, EqualNullSafe, EqualTo, Expression, GreaterThan, If, Literal, PredicateHelper}
import org.apache.spark.sql.catalyst.expressions.aggregate.{Count, First}
import org.apache.spark.sql.catalyst.plans.{LeftOuter, LeftSingle}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Join, LogicalPlan, Project}

/**
 * Writes `LeftSingle` joins, in which a second match is an error, as left joins with an aggregate of
 * the right side by its keys: it counts the matches and keeps the first. The error is raised above
 * the join, because many rows of a key that no left row has are no error.
 */
private[changelog] object SingleJoins extends PredicateHelper {

  /** Joins without an equality, or with conditions of both sides that are none, stay as they are. */
  def counted(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    // A table's join stays Spark's, or state keeps the one match.
    case join: Join if join.joinType == LeftSingle && join.right.isStreaming =>
      counted(join).getOrElse(join)
  }

  private def counted(join: Join): Option[LogicalPlan] = {
    val (left, right) = (join.left, join.right)
    def ofLeft(e: Expression) = e.references.subsetOf(left.outputSet)
    def ofRight(e: Expression) = e.references.nonEmpty && e.references.subsetOf(right.outputSet)
    val (ofOne, ofBoth) =
      join.condition.toSeq.flatMap(splitConjunctivePredicates).partition(ofLeft)
    val keys = ofBoth.collect {
      case EqualTo(_, b) if ofRight(b) => b
      case EqualTo(a, _) if ofRight(a) => a
      case EqualNullSafe(_, b) if ofRight(b) => b
      case EqualNullSafe(a, _) if ofRight(a) => a
    }.map(key => key -> Alias(key, "key")())
    val conditions = ofBoth.map(_.transformDown {
      case e if ofRight(e) => keys.find(_._1.semanticEquals(e)).fold(e)(_._2.toAttribute)
    })
    Option.when(
      keys.nonEmpty && conditions.forall(!_.references.exists(right.outputSet.contains))) {
      val matches = Alias(Count(Literal(1)).toAggregateExpression(), "matches")()
      val first = right.output.map { column =>
        Alias(First(column, ignoreNulls = false).toAggregateExpression(), column.name)()
      }
      val grouped = Aggregate(keys.map(_._1), keys.map(_._2) ++ (matches +: first), right)
      val several = GreaterThan(matches.toAttribute, Literal(1L))
      val columns = right.output.zip(first).map { case (column, its) =>
        Alias(
          If(several, TooManyRows(column.dataType), its.toAttribute),
          column.name)(column.exprId)
      }
      Project(
        (left.output: Seq[Attribute]) ++ columns,
        join.copy(
          right = grouped,
          joinType = LeftOuter,
          condition = Some((conditions ++ ofOne).reduce[Expression](And(_, _)))))
    }
  }
}
