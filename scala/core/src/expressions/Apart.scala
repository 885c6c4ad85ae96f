package io.firesteel.core.expressions

import org.apache.spark.sql.catalyst.expressions.{Alias, ConditionalExpression, Expression, NamedExpression, TaggingExpression}

/**
 * A value of which no part is computed for another expression.
 *
 * Spark computes what several expressions of one projection have in common before them, also what
 * stands behind `AND`, `OR` or the first condition of `CASE`: `d <> 0 AND n / d > 1` and `d <> 0 AND n
 * / d > 2` then divide by zero. An operator that computes values together which Spark's plan computes
 * one by one takes them apart.
 */
final private[firesteel] case class Apart(child: Expression)
  extends TaggingExpression
  with ConditionalExpression {

  override def alwaysEvaluatedInputs: Seq[Expression] = Nil

  override def withNewAlwaysEvaluatedInputs(inputs: Seq[Expression]): Apart = this

  override def branchGroups: Seq[Seq[Expression]] = Nil

  override protected def withNewChildInternal(newChild: Expression): Apart = copy(child = newChild)
}

private[firesteel] object Apart {

  /**
   * The columns of one projection, those taken apart of which a part that a condition protects is
   * computed twice.
   */
  def of(columns: Seq[NamedExpression]): Seq[NamedExpression] = {
    val together = computedTogether(columns)
    columns.map {
      case alias: Alias =>
        alias.withNewChildren(Seq(together(alias.child))).asInstanceOf[NamedExpression]
      case other => other
    }
  }

  /** Expressions that Spark computes together, and its plan would compute one by one. */
  def computedTogether(all: Seq[Expression]): Together =
    new Together(all.flatMap(CannotFail.hoisted))

  /** The same of groups: Spark's plan computes those of one group together. */
  def groupsTogether(groups: Seq[Seq[Expression]]): Together =
    new Together(groups.flatMap(_.flatMap(CannotFail.hoisted).distinct))

  /** @param parts all parts that can fail, each as often as it is computed */
  final class Together private[Apart] (parts: Seq[Expression]) {

    private val several: Set[Expression] =
      parts.groupBy(identity).collect { case (part, same) if same.size > 1 => part }.toSet

    /** One of the expressions, taken apart where it has to be. */
    def apply(expression: Expression): Expression =
      if (protectedParts(expression).exists(several)) Apart(expression) else expression

    private def protectedParts(expression: Expression) =
      CannotFail.protectedParts(expression).intersect(CannotFail.hoisted(expression).toSet)
  }
}
