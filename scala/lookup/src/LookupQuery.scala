package io.firesteel.lookup

import org.apache.spark.sql.catalyst.util.CharVarcharCodegenUtils
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.expressions.{And, Attribute, AttributeSet, Cast, EqualTo, Expression, GreaterThanOrEqual, If, IsNotNull, KnownFloatingPointNormalized, LessThanOrEqual, Literal, NamedExpression, PredicateHelper, TaggingExpression}
import org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero
import org.apache.spark.sql.catalyst.plans.{Cross, Inner, JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.{ArrayType, ByteType, DataType, DoubleType, FloatType, IntegerType, LongType, ShortType, StructType}

/**
 * A join whose right side is looked up.
 *
 * @param join the join itself
 * @param options options of all marks of the dimension together, and of its registration
 * @param hinted the names of those that marks have
 * @param inOrder the reason why rows must keep their tasks and their order, if they must
 * @param alias the name of the marked table, if it has one
 * @param dimension the plan below projections and filters of the right side
 * @param projection the columns of the right side, over `dimension`
 * @param filters conditions on the right side alone, over `dimension`
 */
private[firesteel] final case class LookupQuery(
    join: Join,
    options: Map[String, String],
    hinted: Set[String],
    inOrder: Option[String],
    alias: Option[String],
    projection: Seq[NamedExpression],
    filters: Seq[Expression],
    dimension: LogicalPlan) {

  def left: LogicalPlan = join.left
  def joinType: JoinType = if (join.joinType == Cross) Inner else join.joinType

  /** The dimension's name in the query, for errors. */
  def name: String = dimension match {
    case relation: LookupRelation => relation.name
    case other =>
      alias.orElse(projection.flatMap(_.qualifier.lastOption).headOption).getOrElse(other.nodeName)
  }
}

/**
 * A column of the dimension that the join compares with a value of the other side.
 *
 * @param column column of the dimension
 * @param value an expression over the left side, or a constant; of the column's type
 * @param compared the column as Spark's join compares it, normalised if it is a float
 */
private[lookup] final case class KeyCandidate(
    column: Attribute,
    value: Expression,
    compared: Expression) {
  def isConstant: Boolean = KeyCandidate.isConstant(value)
}

private[lookup] object KeyCandidate {

  /** Whether all rows have one value, also where Spark's optimizer is not to know that. */
  def isConstant(value: Expression): Boolean = value.transformUp {
    case tagged: TaggingExpression if tagged.child.foldable => tagged.child
  }.foldable

  /** Whether a constant is hidden from Spark's optimizer: the next micro-batch may have another. */
  def hidesConstant(condition: Expression): Boolean = condition.exists {
    case tagged: TaggingExpression => tagged.child.foldable
    case _ => false
  }
}

private[lookup] object LookupQuery extends PredicateHelper {

  def unapply(plan: LogicalPlan): Option[LookupQuery] = plan match {
    case join: Join if Seq(Inner, LeftOuter, Cross).contains(join.joinType) =>
      val chain = DimensionChain.of(join.right)
      val marked = chain.marks.reverse.flatMap(_.options).toMap
      val inOrder = chain.marks.flatMap(_.inOrder).headOption
      val alias = chain.marks.flatMap(_.name).headOption
      chain.relation match {
        case relation: LookupRelation =>
          // Names as the table has them: a query may write a column's name in another case.
          val own = relation.output.map(column => column.exprId -> column).toMap
          val filters = chain.filters.map(_.transform { case a: Attribute =>
            own.getOrElse(a.exprId, a)
          })
          val all = relation.options ++ marked
          Some(LookupQuery(
            join,
            all,
            marked.keySet,
            inOrder,
            alias,
            chain.projection,
            filters,
            relation))
        case other if chain.marks.nonEmpty =>
          Some(LookupQuery(
            join,
            marked,
            marked.keySet,
            inOrder,
            alias,
            chain.projection,
            chain.filters,
            other))
        case _ => None
      }
    case _ => None
  }

  /** Columns with a value, in the order of the dimension's columns; one per column. */
  def candidates(query: LookupQuery): Seq[KeyCandidate] = {
    val left = query.left.outputSet
    val joined = query.join.condition.toSeq.flatMap(splitConjunctivePredicates).collect {
      case EqualTo(a, b) if isOf(a, left) && isOf(b, query.join.right.outputSet) =>
        candidate(DimensionChain.replace(b, query.projection), a)
      case EqualTo(b, a) if isOf(a, left) && isOf(b, query.join.right.outputSet) =>
        candidate(DimensionChain.replace(b, query.projection), a)
    }.flatten
    val constant = query.filters.flatMap(splitConjunctivePredicates).collect {
      case EqualTo(column, value) if KeyCandidate.isConstant(value) => candidate(column, value)
      case EqualTo(value, column) if KeyCandidate.isConstant(value) => candidate(column, value)
    }.flatten
    // A value of the row is preferred to a constant: it is more selective.
    query.dimension.output.flatMap { column =>
      (joined ++ constant).find(_.column.exprId == column.exprId).map(_.copy(column = column))
    }
  }

  /** Conditions on the dimension that the keys do not imply. */
  def ownFilters(query: LookupQuery, keys: Seq[KeyCandidate]): Seq[Expression] =
    query.filters.filterNot {
      case IsNotNull(column: Attribute) => keys.exists(_.column.exprId == column.exprId)
      case _ => false
    }

  /** The part of the join's condition that the keys do not cover. */
  def residual(query: LookupQuery, keys: Seq[KeyCandidate]): Option[Expression] = {
    val decided = keys.filterNot(_.isConstant)
    query.join.condition.toSeq
      .flatMap(splitConjunctivePredicates)
      .filterNot {
        case EqualTo(a, b) =>
          Seq((a, b), (b, a)).exists { case (mine, theirs) =>
            isOf(mine, query.left.outputSet) && isOf(theirs, query.join.right.outputSet) &&
            candidate(DimensionChain.replace(theirs, query.projection), mine).exists(found =>
              decided.exists(key =>
                key.column.exprId == found.column.exprId && key.value.semanticEquals(found.value)))
          }
        case _ => false
      }
      .reduceOption(And(_, _))
  }

  private def isOf(expression: Expression, attributes: AttributeSet): Boolean =
    expression.references.nonEmpty && expression.references.subsetOf(attributes)

  /** The key that an equality gives, if the store can be asked by the column itself. */
  private def candidate(theirs: Expression, mine: Expression): Option[KeyCandidate] = theirs match {
    // Spark has normalised the floats of a join and not those of a filter; -0.0 equals 0.0 in both.
    case column: Attribute
        if DataTypeUtils.sameType(column.dataType, mine.dataType) && isFloat(column.dataType) =>
      Some(KeyCandidate(column, normalised(mine), normalised(column)))
    case column: Attribute
        if DataTypeUtils.sameType(column.dataType, mine.dataType) && !holdsFloat(column.dataType) =>
      Some(KeyCandidate(column, mine, column))
    // Spark pads `CHAR(n)` when it reads it, so the store is asked by the padded text.
    case padded: StaticInvoke if isPadding(padded) =>
      padded.arguments.collectFirst { case column: Attribute => KeyCandidate(column, mine, padded) }
    case KnownFloatingPointNormalized(NormalizeNaNAndZero(column: Attribute)) =>
      Some(KeyCandidate(column, mine, theirs))
    // Spark compares in the wider type. A value outside of the column's range matches nothing.
    case cast: Cast if widens(cast) =>
      val column = cast.child.asInstanceOf[Attribute]
      Some(KeyCandidate(column, narrowed(mine, column.dataType), column))
    case _ => None
  }

  private def isPadding(call: StaticInvoke): Boolean =
    call.staticObject == classOf[CharVarcharCodegenUtils] &&
      call.functionName == "readSidePadding"

  private[lookup] def isFloat(dataType: DataType): Boolean =
    dataType == FloatType || dataType == DoubleType

  private[lookup] def holdsFloat(dataType: DataType): Boolean = dataType match {
    case ArrayType(element, _) => isFloat(element) || holdsFloat(element)
    case StructType(fields) => fields.exists(f => isFloat(f.dataType) || holdsFloat(f.dataType))
    case _ => false
  }

  private def normalised(value: Expression): Expression =
    KnownFloatingPointNormalized(NormalizeNaNAndZero(value))

  private val integers = Set[DataType](ByteType, ShortType, IntegerType, LongType)

  private[lookup] def widens(cast: Cast): Boolean = (cast.child, cast.dataType) match {
    case (column: Attribute, wide) =>
      integers.contains(column.dataType) && integers.contains(wide) &&
      column.dataType.defaultSize < wide.defaultSize
    case _ => false
  }

  private[lookup] def narrowed(value: Expression, to: DataType): Expression = {
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
