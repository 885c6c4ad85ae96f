// Not a package of ours: other extensions' rules are told from ours by it.
package example

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.aggregate.Percentile
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.types.ArrayType

/** Runs aggregates with single percentiles by an operator of its own, if all of theirs are single. */
object NativeAggregates extends ColumnarRule {

  @volatile var fails = false

  override def preColumnarTransitions: Rule[SparkPlan] = plan => {
    if (fails) throw new IllegalStateException("of this test")
    plan.transformUp {
      case sparks: BaseAggregateExec if isNative(sparks) =>
        NativeAggregateExec(sparks, sparks.child)
    }
  }

  private def isNative(sparks: BaseAggregateExec): Boolean = {
    val found = sparks.aggregateExpressions.map(_.aggregateFunction).collect {
      case percentile: Percentile => percentile.percentageExpression.dataType
    }
    found.nonEmpty && !found.exists(_.isInstanceOf[ArrayType])
  }
}

final case class NativeAggregateExec(original: BaseAggregateExec, child: SparkPlan)
  extends UnaryExecNode {
  override def nodeName: String = "NativeAggregate"
  override def output: Seq[Attribute] = original.output
  override protected def doExecute(): RDD[InternalRow] =
    original.withNewChildren(Seq(child)).execute()
  override protected def withNewChildInternal(newChild: SparkPlan): NativeAggregateExec =
    copy(child = newChild)
}
