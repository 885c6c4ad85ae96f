package io.firesteel.json

import io.firesteel.core.decide.Decline
import io.firesteel.core.expressions.{Apart, CannotFail}

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, BinaryComparison, Cast, Concat, ConditionalExpression, Expression, GetStructField, If, In, InSet, IsNotNull, IsNull, JsonTuple, LambdaFunction, Literal, Not, Or, StringPredicate}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, Generate, LogicalPlan, Project}
import org.apache.spark.sql.types.{BinaryType, StringType}

/** The expressions over documents in a plan. */
private[json] object JsonCalls {

  def isAt(node: LogicalPlan): Boolean = node.expressions.exists(isIn)

  def isIn(expression: Expression): Boolean = expression.exists {
    case _: JsonTuple => true
    case other => JsonCall.of(other).nonEmpty
  }

  /** The expressions inside, without those of array elements. */
  private def all(expression: Expression): Seq[JsonCall] = JsonCall.of(expression) match {
    case Some(call) => call +: all(call.document)
    case None =>
      expression match {
        case _: LambdaFunction => Nil
        case other => other.children.flatMap(all)
      }
  }

  /**
   * Those that every row reaches, and those inside their documents. A branch that a null document
   * does not reach counts, too.
   */
  def reached(expression: Expression): Seq[JsonCall] = JsonCall.of(expression) match {
    case Some(call) => call +: reached(call.document)
    case None =>
      expression match {
        case Apart(child) => reached(child)
        case _: LambdaFunction => Nil
        case If(IsNull(document), _, value) =>
          reached(document) ++ reached(value).filter(_.document.semanticEquals(document))
        case conditional: ConditionalExpression =>
          conditional.alwaysEvaluatedInputs.flatMap(reached)
        case And(left, _) => reached(left)
        case Or(left, _) => reached(left)
        case in: In => reached(in.value)
        case other => other.children.flatMap(reached)
      }
  }

  /** Those that every row reaches, whatever is null on the way. */
  def always(expression: Expression): Seq[JsonCall] = JsonCall.of(expression) match {
    case Some(call) => call +: always(call.document)
    case None =>
      expression match {
        case _: LambdaFunction => Nil
        case other => CannotFail.evaluated(other).flatMap(always)
      }
  }

  /** Whether a condition or a document is of such kinds that it cannot fail. */
  def isSafe(expression: Expression): Boolean = expression match {
    case _: Attribute | _: Literal => true
    case call if JsonCall.of(call).exists(its => !its.fails && isSafe(its.document)) => true
    case text: Cast if text.child.dataType == BinaryType && text.dataType == StringType =>
      isSafe(text.child)
    case _: GetStructField | _: Concat | _: Apart => expression.children.forall(isSafe)
    case _: BinaryComparison | _: StringPredicate | _: In | _: InSet | _: IsNull | _: IsNotNull |
        _: And | _: Or | _: Not => expression.children.forall(isSafe)
    case _ => false
  }

  def replace(expression: Expression)(by: JsonCall => Option[Expression]): Expression =
    JsonCall.of(expression).flatMap(by) match {
      case Some(replacement) => replacement
      case None =>
        expression match {
          case lambda: LambdaFunction => lambda
          case other => other.mapChildren(replace(_)(by))
        }
    }

  /** Why expressions of a node are left to Spark. */
  def declines(node: LogicalPlan): Seq[Decline] = node match {
    case _: Project | _: Filter | _: Aggregate | _: Generate =>
      node.expressions.flatMap(all).flatMap(_.reading.left.toOption) ++ tuples(node) ++
        Option.when(node.expressions.exists(_.exists(isOfElement)))(JsonDecline.Lambda) ++
        Option.when(AskedInOrder.failsBeforeFilter(node))(JsonDecline.FilteredArgument)
    case other => Seq(JsonDecline.Operator(other.nodeName))
  }

  private def tuples(node: LogicalPlan): Seq[Decline] = node match {
    case generate: Generate =>
      generate.generator match {
        case tuple: JsonTuple => JsonCall.ofTuple(tuple, generate.generatorOutput).left.toSeq
        case _ => Nil
      }
    case _ => Nil
  }

  private def isOfElement(expression: Expression): Boolean = expression match {
    case lambda: LambdaFunction => isIn(lambda.function)
    case _ => false
  }
}
