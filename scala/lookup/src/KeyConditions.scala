package io.firesteel.lookup

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{And, AttributeSet, Cast, EqualTo, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types.DataType

/**
 * Moves conditions on the keys alone, which a store cannot compute, to the values that the store is
 * asked by.
 *
 * {{{
 *   Join (t.v = d.id)                       Join (t.v = d.id AND pyudf(t.v) > 9)
 *   :- t                                =>  :- t
 *   +- Filter (pyudf(d.id) > 9)             +- LookupRelation d
 *      +- LookupRelation d
 * }}}
 *
 * Key and value are equal in every joined row, so the condition holds for the same rows, also in a
 * `LEFT JOIN`: a row that fails it has no match. Most of these conditions come from Spark, which
 * infers them from a condition on the value. The left side has such a condition already, so it is
 * dropped here.
 */
private[lookup] object KeyConditions extends PredicateHelper {

  def moved(join: Join): Join = {
    val nodes = LiftOffDimension.path(join.right)
    val inlined = LiftOffDimension.inlining(nodes, AttributeSet.empty)
    val values = join.condition.toSeq.flatMap(splitConjunctivePredicates).collect {
      case EqualTo(mine, theirs) if areKeyOf(join, mine, theirs) => equal(inlined(theirs), mine)
      case EqualTo(theirs, mine) if areKeyOf(join, mine, theirs) => equal(inlined(theirs), mine)
    }.flatten
    lazy val known = join.left.constraints
    val said = mutable.ArrayBuffer.empty[Expression]

    def relieved(plan: LogicalPlan): LogicalPlan = plan match {
      case Filter(condition, child) =>
        val (others, moved) = splitConjunctivePredicates(condition)
          .partitionMap(part => inValues(inlined(part), values, join).toRight(part))
        said ++= moved.filterNot(known.contains)
        others.reduceOption(And(_, _)).fold(relieved(child))(Filter(_, relieved(child)))
      case end if end eq nodes.last => end
      // All nodes on the way have one child, or are joins with the dimension on their left.
      case other => other.withNewChildren(relieved(other.children.head) +: other.children.tail)
    }
    val right = relieved(join.right)
    join.copy(right = right, condition = (join.condition ++ said).reduceOption(And(_, _)))
  }

  /**
   * The dimension's expressions with this value: also the column that is compared as a wider type.
   */
  private def equal(theirs: Expression, mine: Expression): Seq[(Expression, Expression)] =
    theirs match {
      case cast: Cast if LookupQuery.widens(cast) =>
        Seq(cast -> mine, cast.child -> LookupQuery.narrowed(mine, cast.child.dataType))
      case other => Seq(other -> mine)
    }

  private def areKeyOf(join: Join, mine: Expression, theirs: Expression): Boolean =
    mine.references.nonEmpty && mine.references.subsetOf(join.left.outputSet) &&
      theirs.references.nonEmpty && theirs.references.subsetOf(join.right.outputSet) &&
      isSameWhenEqual(mine.dataType)

  /**
   * Excludes floats (-0.0 equals 0.0) and texts with a collation, whose equal values may differ.
   */
  private def isSameWhenEqual(of: DataType): Boolean =
    UnsafeRowUtils.isBinaryStable(of) && !LookupQuery.isFloat(of) && !LookupQuery.holdsFloat(of)

  private def inValues(
      condition: Expression,
      values: Seq[(Expression, Expression)],
      join: Join): Option[Expression] =
    if (!LiftOffDimension.isBurden(condition)) None
    else {
      val said = condition.transformDown { case part =>
        values.collectFirst { case (key, value) if key.semanticEquals(part) => value }.getOrElse(
          part)
      }
      Some(said).filter(s =>
        s.references.nonEmpty && s.references.subsetOf(join.left.outputSet))
    }
}
