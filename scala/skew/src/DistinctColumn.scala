package io.firesteel.skew

import io.firesteel.core.rows.KeyIndex
import org.apache.spark.sql.catalyst.expressions.{And, Attribute, AttributeReference, CreateStruct, Expression, If, IsNotNull, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, Count}
import org.apache.spark.sql.firesteel.{binaryKey, normalizeFloats}

/**
 * What some `DISTINCT` aggregates of one query have in common: the same values of the same rows,
 * which are therefore found once.
 *
 * @param values of one row, together one value
 * @param filter which rows count, the functions' `FILTER`
 * @param functions what is computed of the distinct values
 */
private[skew] final case class DistinctColumn(
    values: Seq[Expression],
    filter: Option[Expression],
    functions: Seq[AggregateExpression]) {

  /** Counting asks only whether values are equal, never what they are. */
  val isCount: Boolean = functions.forall(_.aggregateFunction.isInstanceOf[Count])

  // Floats are made equal where Spark holds them for equal; so are collated strings.
  private val identities: Seq[Expression] =
    values.map(value => normalizeFloats(binaryKey(value)))

  /**
   * Whether a value fits the eight bytes of a fixed field of an `UnsafeRow`. Then those are the
   * value: Spark zeroes what a shorter type leaves of them.
   */
  val isNumber: Boolean = identities.size == 1 && KeyIndex.fitsWord(identities.head.dataType)

  /** The value that a row adds, null when it adds none. */
  val added: Expression = {
    val value = if (isNumber) identities.head else CreateStruct(identities)
    // A null adds nothing to any function of this room; of several values, one null suffices.
    val present = if (isNumber) Nil else identities.filter(_.nullable).map(IsNotNull(_))
    (filter ++ present).reduceOption(And(_, _)).fold(value) { condition =>
      If(condition, value, Literal(null, value.dataType))
    }
  }

  /** The functions over a row of one distinct value, and that row's columns. */
  def overValues: (Seq[AggregateExpression], Seq[Attribute]) = {
    val columns = values.zip(identities).map { case (value, identity) =>
      value.canonicalized -> AttributeReference(value.sql, identity.dataType)()
    }
    val places = columns.toMap
    val moved = functions.map { function =>
      val of = function.aggregateFunction
      val children = of.children.map(child => places.getOrElse(child.canonicalized, child))
      AggregateExpression(
        of.withNewChildren(children).asInstanceOf[AggregateFunction],
        function.mode,
        isDistinct = false)
    }
    (moved, columns.map(_._2))
  }
}
