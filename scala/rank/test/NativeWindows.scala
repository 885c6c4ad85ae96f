// Not a package of ours: other extensions' rules are told from ours by it.
package example

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.window.{WindowExecBase, WindowGroupLimitExec}

/** Runs windows by an operator of its own, if `limitsToo` also those that keep the first rows. */
object NativeWindows extends ColumnarRule {

  @volatile var limitsToo = true

  override def preColumnarTransitions: Rule[SparkPlan] = _.transformUp {
    case window: WindowExecBase => NativeWindowExec(window, window.child)
    case limit: WindowGroupLimitExec if limitsToo => NativeWindowExec(limit, limit.child)
  }
}

final case class NativeWindowExec(original: SparkPlan, child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "NativeWindow"
  override def output: Seq[Attribute] = original.output
  override protected def doExecute(): RDD[InternalRow] =
    original.withNewChildren(Seq(child)).execute()
  override protected def withNewChildInternal(newChild: SparkPlan): NativeWindowExec =
    copy(child = newChild)
}
