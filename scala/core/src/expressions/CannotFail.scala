package io.firesteel.core.expressions

import org.apache.spark.sql.catalyst.expressions.{Add, And, Attribute, BinaryComparison, CaseWhen, Cast, Coalesce, ConditionalExpression, DivModLike, Elt, EvalMode, Expression, Greatest, If, In, InSet, IsNaN, IsNotNull, IsNull, KnownFloatingPointNormalized, Least, Literal, Multiply, Not, Or, Pmod, Remainder, StringLocate, StringPredicate, Subtract, TryEval}
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero
import org.apache.spark.sql.types.{CharType, DoubleType, FloatType, NumericType, StringType, VarcharType}

/**
 * Whether an expression has a value on every row and never raises an error.
 *
 * The list has expressions that are known not to fail. All others count as able to fail, above all
 * ANSI arithmetic and casts: `1/a` on a row that the query's own filter has removed would raise an
 * error that Spark's plan does not raise.
 */
private[firesteel] object CannotFail {

  def apply(expression: Expression): Boolean =
    itself(expression) && expression.children.forall(apply)

  /**
   * Whether every part of `expression` that can fail is evaluated whenever `expression` is. If one
   * is not (`b = 0 OR a / b > 1`), evaluating common subexpressions early may raise an error.
   */
  def isUnprotected(expression: Expression): Boolean = protectedParts(expression).isEmpty

  /** The parts that can fail and are not evaluated whenever `expression` is, in canonical form. */
  private[expressions] def protectedParts(expression: Expression): Set[Expression] =
    failing(expression).toSet -- alwaysEvaluated(expression).filterNot(itself).map(_.canonicalized)

  private def failing(expression: Expression): Seq[Expression] =
    expression.collect { case part if !itself(part) => part.canonicalized }

  /**
   * The parts that can fail and that Spark computes first if another expression has them, too, in
   * canonical form: all but those that only some branches have.
   *
   * Source: `EquivalentExpressions.childrenToRecurse` and `commonChildrenToRecurse` of Spark.
   */
  private[expressions] def hoisted(expression: Expression): Seq[Expression] = {
    val below = expression match {
      case _: CodegenFallback => Nil
      case conditional: ConditionalExpression => conditional.alwaysEvaluatedInputs
      case other => other.children
    }
    val ofAllBranches = expression match {
      case _: CodegenFallback => Nil
      case conditional: ConditionalExpression =>
        conditional.branchGroups.filter(_.size > 1)
          .flatMap(_.map(hoisted(_).distinct).reduce(_ intersect _))
      case _ => Nil
    }
    (if (itself(expression)) Nil else Seq(expression.canonicalized)) ++
      below.flatMap(hoisted) ++ ofAllBranches
  }

  /**
   * Whether an aggregate function computes `argument` for each row, or `argument` cannot fail.
   * `first` computes its argument for some rows only, `count` its second one.
   */
  def isComputedAlways(function: DeclarativeAggregate, argument: Expression): Boolean =
    apply(argument) ||
      function.updateExpressions.exists(alwaysEvaluated(_).exists(_.semanticEquals(argument)))

  private def alwaysEvaluated(expression: Expression): Seq[Expression] =
    expression +: evaluated(expression).flatMap(alwaysEvaluated)

  /**
   * The children that are evaluated whenever the expression is: a later child may be skipped if an
   * earlier one is null; a division evaluates its divisor first.
   */
  def evaluated(expression: Expression): Seq[Expression] = expression match {
    case _: And | _: Or | _: In | _: Elt => expression.children.take(1)
    case conditional: ConditionalExpression => conditional.alwaysEvaluatedInputs
    case _: Least | _: Greatest => expression.children
    // A divisor that is null or, unless ANSI is on, zero is the end.
    case _: DivModLike | _: Pmod =>
      if (isNonZero(expression.children.last)) expression.children
      else expression.children.takeRight(1)
    case its: StringLocate => untilNull(Seq(its.start, its.substr, its.str))
    // It answers null for an error inside.
    case _: TryEval => Nil
    case _ => untilNull(expression.children)
  }

  private def untilNull(children: Seq[Expression]): Seq[Expression] = {
    val (present, others) = children.span(!_.nullable)
    present ++ others.take(1)
  }

  private def itself(expression: Expression): Boolean = expression match {
    case _: Attribute | _: Literal => true
    case _: BinaryComparison | _: In | _: InSet | _: StringPredicate => true
    case _: And | _: Or | _: Not | _: IsNull | _: IsNotNull | _: IsNaN => true
    case _: If | _: CaseWhen | _: Coalesce => true
    case _: KnownFloatingPointNormalized | _: NormalizeNaNAndZero => true
    case _: Add | _: Subtract | _: Multiply => isFractional(expression)
    case remainder: Remainder => isNonZero(remainder.right)
    case cast: Cast => cast.evalMode == EvalMode.TRY || isWidening(cast)
    case _ => false
  }

  /** For floats an overflow is infinity, no error. */
  private def isFractional(expression: Expression): Boolean =
    expression.dataType == FloatType || expression.dataType == DoubleType

  private def isNonZero(divisor: Expression): Boolean = divisor match {
    case Literal(value: Number, _) => value.doubleValue != 0
    case _ => false
  }

  private def isWidening(cast: Cast): Boolean = (cast.child.dataType, cast.dataType) match {
    case (from: NumericType, to: NumericType) => Cast.canUpCast(from, to)
    // Where Spark keeps the types, it checks the length.
    case (_, _: CharType | _: VarcharType) => false
    case (_: StringType, _: StringType) => true
    case _ => false
  }
}
