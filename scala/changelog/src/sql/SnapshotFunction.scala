package io.firesteel.changelog.sql

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, ResolvedHint, SubqueryAlias, UnaryNode, View}
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * `FROM events e JOIN SNAPSHOT(TABLE(r)) r ON e.k = r.k`: each row of `e` meets the rows that the
 * changing table `r` has when the row's micro-batch has changed it (Flink: `LATERAL SNAPSHOT`). Rows
 * of `e` are not kept, and what they met stays in the result.
 *
 * It is a function, and no hint: it changes the answer, and Spark drops a hint that it does not
 * understand.
 */
final private[changelog] case class Snapshot(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): Snapshot =
    copy(child = newChild)
}

private[changelog] object Snapshot {

  /** The plan without its snapshot, if it is one, below projections, filters and names. */
  def below(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case Snapshot(child) => Some(child)
    case _: SubqueryAlias | _: View | _: Project | _: Filter | _: InputHint | _: ResolvedHint =>
      below(plan.children.head).map(child => plan.withNewChildren(Seq(child)))
    case _ => None
  }
}

object SnapshotFunction {

  private val name = "snapshot"

  val description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan) = (
    FunctionIdentifier(name),
    new ExpressionInfo(getClass.getName, name),
    arguments => Snapshot(new SourceArguments(name, Seq("input"), arguments).table("input")))
}

/** A batch query reads a table as it is. */
object RemoveSnapshot extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case Snapshot(child) if child.resolved && !child.isStreaming => child
  }
}
