package io.firesteel.lookup

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, AttributeSet, Cast, EqualTo, Expression, GreaterThanOrEqual, If, IsNotNull, KnownFloatingPointNormalized, LessThanOrEqual, Literal, NamedExpression, PredicateHelper}
import org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.{Cross, Inner, JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.types.{ByteType, DataType, DoubleType, FloatType, IntegerType, LongType, ShortType}

/**
 * A join whose right side is to be looked up.
 *
 * @param join the join itself
 * @param mark the mark of the query, if it has one; options of several are put together
 * @param dimension what is below projections and filters of the right side
 * @param projection the columns of the right side, in terms of `dimension`
 * @param filters conditions on the right side alone, in terms of `dimension`
 */
private[firesteel] final case class LookupQuery(
    join: Join,
    options: Map[String, String],
    projection: Seq[NamedExpression],
    filters: Seq[Expression],
    dimension: LogicalPlan) {

  def left: LogicalPlan = join.left
  def joinType: JoinType = if (join.joinType == Cross) Inner else join.joinType

  /** The name that the query gives the dimension, for errors. */
  def name: String = dimension match {
    case relation: LookupRelation => relation.name
    case other => projection.flatMap(_.qualifier.lastOption).headOption.getOrElse(other.nodeName)
  }
}

/**
 * A column of the dimension that the join compares with a value of the other side.
 *
 * @param column of the dimension
 * @param value in terms of the left side, or a constant; of the column's type
 * @param compared the column as Spark's join compares it, normalised if it is a float
 */
private[lookup] final case class KeyCandidate(
    column: Attribute,
    value: Expression,
    compared: Expression) {
  def isConstant: Boolean = value.foldable
}

private[lookup] object LookupQuery extends PredicateHelper {

  def unapply(plan: LogicalPlan): Option[LookupQuery] = plan match {
    case join: Join if Seq(Inner, LeftOuter, Cross).contains(join.joinType) =>
      val marks = join.right.collect { case table: LookupTable => table }
      val bare = join.right.transformDown { case table: LookupTable => table.child }
      // An optimized plan; only projections and filters can stand between.
      PhysicalOperation.unapply(bare).flatMap { case (projection, filters, dimension) =>
        val isMarked = marks.nonEmpty && marksChain(join.right)
        dimension match {
          case relation: LookupRelation =>
            val options = relation.options ++ marks.reverse.flatMap(_.options)
            Some(LookupQuery(join, options, projection, filters, relation))
          case other if isMarked =>
            Some(
              LookupQuery(join, marks.reverse.flatMap(_.options).toMap, projection, filters, other))
          case _ => None
        }
      }
    case _ => None
  }

  /** Whether the mark is about this join's right side as a whole, not about a join inside it. */
  private def marksChain(plan: LogicalPlan): Boolean = plan match {
    case _: LookupTable => true
    case other if other.children.length == 1 => marksChain(other.children.head)
    case _ => false
  }

  /** What the join gives a value for, in the order of the dimension's columns; one per column. */
  def candidates(query: LookupQuery): Seq[KeyCandidate] = {
    val left = query.left.outputSet
    val columns = aliases(query.projection)
    val joined = query.join.condition.toSeq.flatMap(splitConjunctivePredicates).collect {
      case EqualTo(a, b) if isOf(a, left) && isOf(b, query.join.right.outputSet) =>
        candidate(replace(b, columns), a)
      case EqualTo(b, a) if isOf(a, left) && isOf(b, query.join.right.outputSet) =>
        candidate(replace(b, columns), a)
    }.flatten
    val constant = query.filters.flatMap(splitConjunctivePredicates).collect {
      case EqualTo(column, value) if value.foldable => candidate(column, value)
      case EqualTo(value, column) if value.foldable => candidate(column, value)
    }.flatten
    // A value of the row is worth more than a constant: it says more.
    query.dimension.output.flatMap { column =>
      (joined ++ constant).find(_.column.exprId == column.exprId)
    }
  }

  /** The equalities of a join in words, for an error. */
  def equalities(query: LookupQuery): Seq[String] =
    candidates(query).map(_.column.name)

  /** Conditions on the dimension that a key does not imply already. */
  def ownFilters(query: LookupQuery, keys: Seq[KeyCandidate]): Seq[Expression] =
    query.filters.filterNot {
      case IsNotNull(column: Attribute) => keys.exists(_.column.exprId == column.exprId)
      case _ => false
    }

  /** The part of the join's condition that the keys do not decide. */
  def residual(query: LookupQuery, keys: Seq[KeyCandidate]): Option[Expression] = {
    val decided = keys.filterNot(_.isConstant)
    val columns = aliases(query.projection)
    query.join.condition.toSeq
      .flatMap(splitConjunctivePredicates)
      .filterNot {
        case EqualTo(a, b) =>
          Seq((a, b), (b, a)).exists { case (mine, theirs) =>
            isOf(mine, query.left.outputSet) && isOf(theirs, query.join.right.outputSet) &&
            candidate(replace(theirs, columns), mine).exists(found =>
              decided.exists(key =>
                key.column.exprId == found.column.exprId && key.value.semanticEquals(found.value)))
          }
        case _ => false
      }
      .reduceOption(And(_, _))
  }

  private def isOf(expression: Expression, attributes: AttributeSet): Boolean =
    expression.references.nonEmpty && expression.references.subsetOf(attributes)

  private def aliases(projection: Seq[NamedExpression]): Map[Long, Expression] =
    projection.collect {
      case alias: org.apache.spark.sql.catalyst.expressions.Alias => alias.exprId.id -> alias.child
    }.toMap

  private def replace(expression: Expression, columns: Map[Long, Expression]): Expression =
    expression.transform { case a: Attribute => columns.getOrElse(a.exprId.id, a) }

  /** A comparison of `theirs`, the dimension's, with `mine`, if it can be asked by column. */
  private def candidate(theirs: Expression, mine: Expression): Option[KeyCandidate] = theirs match {
    case column: Attribute if column.dataType == mine.dataType =>
      Some(KeyCandidate(column, normalized(mine), normalized(column)))
    case KnownFloatingPointNormalized(NormalizeNaNAndZero(column: Attribute)) =>
      Some(KeyCandidate(column, mine, theirs))
    // Spark compares in the wider type. A value that the column's type cannot hold matches nothing.
    case cast: Cast if widens(cast) =>
      val column = cast.child.asInstanceOf[Attribute]
      Some(KeyCandidate(column, narrowed(mine, column.dataType), column))
    case _ => None
  }

  /** Spark normalises the keys of a join, but not a constant that a filter compares with. */
  private def normalized(float: Expression): Expression = float.dataType match {
    case FloatType | DoubleType => KnownFloatingPointNormalized(NormalizeNaNAndZero(float))
    case _ => float
  }

  private val integers = Set[DataType](ByteType, ShortType, IntegerType, LongType)

  private def widens(cast: Cast): Boolean = (cast.child, cast.dataType) match {
    case (column: Attribute, wide) =>
      integers.contains(column.dataType) && integers.contains(wide) &&
      column.dataType.defaultSize < wide.defaultSize
    case _ => false
  }

  private def narrowed(value: Expression, to: DataType): Expression = {
    val (least, most) = to match {
      case ByteType => (Byte.MinValue.toLong, Byte.MaxValue.toLong)
      case ShortType => (Short.MinValue.toLong, Short.MaxValue.toLong)
      case IntegerType => (Int.MinValue.toLong, Int.MaxValue.toLong)
      case _ => (Long.MinValue, Long.MaxValue)
    }
    val wide = Cast(value, LongType)
    If(
      And(GreaterThanOrEqual(wide, Literal(least)), LessThanOrEqual(wide, Literal(most))),
      Cast(value, to),
      Literal(null, to))
  }
}
