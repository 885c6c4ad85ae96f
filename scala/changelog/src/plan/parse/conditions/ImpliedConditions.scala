package io.firesteel.changelog.plan.parse.conditions

import io.firesteel.changelog.sql.RowKindFunction
import io.firesteel.core.expressions.CannotFail
import io.firesteel.core.plans.ReadByKey

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, AttributeMap, EqualNullSafe, EqualTo, Expression, IsNotNull, Or, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.{Cross, Inner, JoinType, LeftAnti, LeftOuter, LeftSemi, RightOuter}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, EventTimeWatermark, Filter, Join, LogicalPlan, Project, SubqueryAlias}
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.types.{BinaryType, BooleanType, ByteType, DataType, DateType, DecimalType, IntegerType, LongType, ShortType, StringType, TimestampNTZType, TimestampType}

/**
 * Conditions of one input of a join that its other conditions imply: of `a.x = b.x AND a.x > 5` it is
 * `b.x > 5`, and of `a.x = 1 AND b.y = 2 OR a.x = 3 AND b.y = 4` they are `a.x = 1 OR a.x = 3` and
 * `b.y = 2 OR b.y = 4`. State keeps fewer rows, and the joins above meet fewer. Query 7 of TPC-H is
 * such a query.
 *
 * Flink has them by `JoinPushTransitivePredicatesRule` and `JoinDependentConditionDerivationRule`, and
 * Spark by `InferFiltersFromConstraints` and `PushExtraPredicateThroughJoin`, which see a query after
 * this room.
 */
private[changelog] object ImpliedConditions extends PredicateHelper {

  /**
   * @param isFree whether a condition may be evaluated once more, and of other rows
   * @param isOfVersion whether a time chooses what a row of a join meets: all stays in place there
   */
  def apply(isFree: Expression => Boolean, isOfVersion: Join => Boolean)(
      query: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      val rule = new ImpliedConditions(isFree, isOfVersion)
      def isFor(join: Join) = join.isStreaming && join.resolved && !isOfVersion(join)
      query.transformDown {
        case filter @ Filter(condition, join: Join) if isFor(join) =>
          filter.copy(child = rule.narrowed(join, splitConjunctivePredicates(condition)))
        case join: Join if isFor(join) => rule.narrowed(join, Nil)
      }
    }

  /** Whether two values that `=` takes for the same are the same in any condition. */
  private def isExact(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType => true
    case BooleanType | BinaryType | StringType => true
    case DateType | TimestampType | TimestampNTZType | _: DecimalType => true
    case _ => false
  }
}

final private class ImpliedConditions(
    isFree: Expression => Boolean,
    isOfVersion: Join => Boolean)
  extends PredicateHelper {
  import ImpliedConditions.isExact

  /** @param above conditions of the join's result */
  def narrowed(join: Join, above: Seq[Expression]): Join = join.joinType match {
    case Inner | Cross =>
      val inputs = flat(join)
      val own = conditions(join)
      withInputs(join, new Known(own ++ above ++ inputs.flatMap(conditionsOf), inputs).filtered)
    case LeftOuter | LeftSemi | LeftAnti => ofSide(join, 1, above)
    case RightOuter => ofSide(join, 0, above)
    case _ => join
  }

  /** A row that matches no preserved row is not needed. */
  private def ofSide(join: Join, optional: Int, above: Seq[Expression]): Join = {
    val sides = join.children
    val preserved = sides(1 - optional)
    val ofResult = above.filter(_.references.subsetOf(preserved.outputSet))
    val all = join.condition.toSeq.flatMap(splitConjunctivePredicates) ++ ofResult ++
      sides.flatMap(conditionsOf)
    val known = new Known(all, sides)
    val isNarrowed = sides.indices.map(_ == optional || join.joinType == LeftSemi)
    val narrow = sides.zip(isNarrowed).map {
      case (side, true) => known.filtered(side)
      case (side, _) => side
    }
    join.copy(left = narrow.head, right = narrow.last)
  }

  private def isFlat(join: Join): Boolean =
    isInner(join.joinType) && !isOfVersion(join)

  private def isInner(joinType: JoinType): Boolean = joinType == Inner || joinType == Cross

  private def flat(plan: LogicalPlan): Seq[LogicalPlan] = plan match {
    case join: Join if isFlat(join) => flat(join.left) ++ flat(join.right)
    case input => Seq(input)
  }

  private def conditions(plan: LogicalPlan): Seq[Expression] = plan match {
    case join: Join if isFlat(join) =>
      join.condition.toSeq.flatMap(splitConjunctivePredicates) ++ conditions(join.left) ++
        conditions(join.right)
    case _ => Nil
  }

  private def withInputs(join: Join, filtered: LogicalPlan => LogicalPlan): Join = {
    def of(side: LogicalPlan) = side match {
      case below: Join if isFlat(below) => withInputs(below, filtered)
      case input => filtered(input)
    }
    join.copy(left = of(join.left), right = of(join.right))
  }

  /** Conditions that all rows of an input meet, as far as they are near. */
  private def conditionsOf(input: LogicalPlan): Seq[Expression] = input match {
    case Filter(condition, child) => splitConjunctivePredicates(condition) ++ conditionsOf(child)
    case Project(_, child) =>
      conditionsOf(child).filter(_.references.subsetOf(input.outputSet))
    case SubqueryAlias(_, child) => conditionsOf(child)
    case _ => Nil
  }

  /**
   * What is known of the rows that meet.
   *
   * @param all conditions that they meet
   */
  private class Known(all: Seq[Expression], inputs: Seq[LogicalPlan]) {

    private val plain = all.filter(c => isFree(c) && !RowKindFunction.isIn(c))

    /** Pairs of equal columns, each in both directions. */
    private val equal: Seq[(Attribute, Attribute)] = plain.collect {
      case EqualTo(a: Attribute, b: Attribute) if areExact(a, b) => Seq(a -> b, b -> a)
      case EqualNullSafe(a: Attribute, b: Attribute) if areExact(a, b) => Seq(a -> b, b -> a)
    }.flatten

    private val ofParts: Seq[Expression] =
      inputs.flatMap(input => plain.flatMap(ofEither(_, input)))

    def filtered(input: LogicalPlan): LogicalPlan = {
      val moved = (plain ++ ofParts).flatMap(withColumnsOf(_, input))
      val implied = (ofParts.filter(isOf(_, input)) ++ moved)
        .foldLeft(Seq.empty[Expression]) { (some, next) =>
          if ((all ++ some).exists(_.semanticEquals(next))) some else some :+ next
        }
      if (implied.isEmpty || ReadByKey.isBelow(input) || hasWatermark(input)) input
      else Filter(implied.reduce(And(_, _)), input)
    }

    /** A condition would come below the watermark, which the rows that it leaves out would not move. */
    private def hasWatermark(input: LogicalPlan): Boolean =
      input.exists(_.isInstanceOf[EventTimeWatermark])

    /** Spark pads the text that a column of CHAR is compared with, and not that of its equal. */
    private def areExact(a: Attribute, b: Attribute): Boolean =
      a.dataType == b.dataType && isExact(a.dataType) &&
        Seq(a, b).forall(column => CharVarcharUtils.getRawType(column.metadata).isEmpty)

    /** What an `OR` of several inputs says of one, if each of its parts says something. */
    private def ofEither(condition: Expression, input: LogicalPlan): Option[Expression] =
      condition match {
        case either: Or if !either.references.subsetOf(input.outputSet) =>
          val parts = splitDisjunctivePredicates(either).map { part =>
            splitConjunctivePredicates(part).filter(c =>
              isOf(c, input) && CannotFail(c)).reduceOption(And(_, _))
          }
          Option.when(parts.forall(_.nonEmpty))(parts.flatten.reduce(Or(_, _)))
        case _ => None
      }

    /** A condition of other columns, if the input has columns that are equal to them. */
    private def withColumnsOf(condition: Expression, input: LogicalPlan): Option[Expression] =
      condition match {
        case EqualTo(_: Attribute, _: Attribute) | EqualNullSafe(_: Attribute, _: Attribute) => None
        case IsNotNull(_) => None // A join drops the rows whose key is null.
        case _ if condition.references.isEmpty || isOf(condition, input) => None
        case _ if !CannotFail(condition) => None
        case _ =>
          val columns = condition.references.toSeq.flatMap(c => columnOf(c, input).map(c -> _))
          Option.when(columns.size == condition.references.size) {
            val its = AttributeMap(columns)
            condition.transform { case column: Attribute => its(column) }
          }
      }

    private def columnOf(column: Attribute, input: LogicalPlan): Option[Attribute] =
      Iterator.iterate(Seq(column))(some =>
        (some ++ equal.collect { case (a, b) if some.exists(_.semanticEquals(a)) => b })
          .distinctBy(_.exprId))
        .take(equal.size + 1).flatMap(_.find(input.outputSet.contains)).nextOption()

    private def isOf(condition: Expression, input: LogicalPlan): Boolean =
      condition.references.nonEmpty && condition.references.subsetOf(input.outputSet)
  }
}
