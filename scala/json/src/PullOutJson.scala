package io.firesteel.json

import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeSet, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan, Project}

/**
 * Takes the expressions over documents out of an aggregate, into a projection of its input, if they
 * can share a scan there.
 */
private[json] object PullOutJson {

  def of(aggregate: Aggregate): LogicalPlan = {
    val calls = aggregate.expressions.flatMap(JsonCalls.reached).filter { call =>
      call.reading.isRight && !call.fails && call.document.deterministic
    }
    aggregate.child match {
      case project: Project =>
        val passed = AttributeSet(project.projectList.filter(project.child.outputSet.contains))
        into(
          aggregate,
          calls.filter(_.document.references.subsetOf(passed)),
          project.projectList,
          project.child)
      case child => into(aggregate, calls, child.output, child)
    }
  }

  private def into(
      aggregate: Aggregate,
      calls: Seq[JsonCall],
      list: Seq[NamedExpression],
      child: LogicalPlan): LogicalPlan = {
    val below = child match {
      case filter: Filter => list :+ filter.condition
      case _ => list
    }
    val documents = (calls ++ below.flatMap(JsonCalls.reached)).map(_.document.canonicalized)
    val shared = calls
      .filter(call => documents.count(_ == call.document.canonicalized) > 1)
      .distinctBy(_.expression.canonicalized)
    if (shared.isEmpty) aggregate
    else {
      val aliases = shared.map(call => Alias(call.expression, "json")())
      def read(expression: Expression): Expression = JsonCalls.replace(expression) { call =>
        shared.indexWhere(_.expression.semanticEquals(call.expression)) match {
          case -1 => None
          case place => Some(aliases(place).toAttribute)
        }
      }
      val reading = aggregate.mapExpressions(read)
      val needed = reading.references
      reading.withNewChildren(
        Seq(Project(list.filter(needed.contains) ++ aliases, child)))
    }
  }
}
