package io.firesteel.skew

import io.firesteel.core.rows.KeyIndex
import org.apache.spark.sql.catalyst.expressions.{And, Attribute, AttributeReference, CreateStruct, Expression, If, IsNotNull, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, Count}
import org.apache.spark.sql.firesteel.{binaryKey, normalizeFloats}

/**
 * Some `DISTINCT` aggregates of one query over the same values of the same rows. The distinct
 * values are found once for all of them.
 *
 * @param values the arguments, which together are one value
 * @param filter the functions' `FILTER`
 * @param functions the functions to compute over the distinct values
 */
private[skew] final case class DistinctColumn(
    values: Seq[Expression],
    filter: Option[Expression],
    functions: Seq[AggregateExpression]) {

  /** A count needs to know whether values are equal, not the values. */
  val isCount: Boolean = functions.forall(_.aggregateFunction.isInstanceOf[Count])

  // Spark groups floats after normalising them, and collated strings by their collation keys.
  private val identities: Seq[Expression] =
    values.map(value => normalizeFloats(binaryKey(value)))

  /**
   * Whether a value fits into the eight bytes of a fixed-width field of an `UnsafeRow`. Those bytes
   * then are the value: Spark sets the unused bytes of a shorter type to zero.
   */
  val isNumber: Boolean = identities.size == 1 && KeyIndex.fitsWord(identities.head.dataType)

  /** The value that a row adds; null if it adds none. */
  val added: Expression = {
    val value = if (isNumber) identities.head else CreateStruct(identities)
    // No function of this room counts a null, nor a tuple of values with a null.
    val present = if (isNumber) Nil else identities.filter(_.nullable).map(IsNotNull(_))
    (filter ++ present).reduceOption(And(_, _)).fold(value) { condition =>
      If(condition, value, Literal(null, value.dataType))
    }
  }

  /** The functions over a row with one distinct value, and the columns of that row. */
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
