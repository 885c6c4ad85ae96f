package io.firesteel.changelog.windows

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.windows.WindowAssigner.{Cumulate, Hop, Session, Tumble}

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.{TimestampNTZType, TimestampType}

/**
 * A call of a window function, until its columns are known.
 *
 * @param partition the keys of `TABLE t PARTITION BY k`
 */
final private[windows] case class WindowFunctionCall(
    function: String,
    assigner: WindowAssigner,
    time: Expression,
    partition: Seq[Expression],
    child: LogicalPlan)
  extends UnaryNode {
  override lazy val resolved: Boolean = false
  override def output: Seq[Attribute] = Nil
  override protected def withNewChildInternal(newChild: LogicalPlan): WindowFunctionCall =
    copy(child = newChild)
}

/**
 * Reads `TUMBLE`, `HOP`, `CUMULATE` and `SESSION` of a `FROM` clause, which are spelled as in Flink.
 * It runs before Spark looks functions up: `DESCRIPTOR(c)` is no function that it knows.
 */
object ReadWindowFunctions extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case call: UnresolvedTableValuedFunction if call.name.size == 1 =>
      read(call.name.head.toUpperCase(Locale.ROOT), call.functionArgs).getOrElse(call)
  }

  private def read(function: String, arguments: Seq[Expression]): Option[LogicalPlan] =
    function match {
      case "TUMBLE" =>
        val its = new WindowArguments(function, Seq("size", "offset"), Set("offset"), arguments)
        Some(call(function, its, Tumble(its.length("size"), its.offset)))
      case "HOP" =>
        val names = Seq("slide", "size", "offset")
        val its = new WindowArguments(function, names, Set("offset"), arguments)
        Some(call(
          function,
          its,
          multiple(its, Hop(its.length("slide"), its.length("size"), its.offset))))
      case "CUMULATE" =>
        val names = Seq("step", "size", "offset")
        val its = new WindowArguments(function, names, Set("offset"), arguments)
        Some(call(
          function,
          its,
          multiple(its, Cumulate(its.length("step"), its.length("size"), its.offset))))
      case "SESSION" =>
        val its = new WindowArguments(function, Seq("gap"), Set.empty, arguments)
        Some(call(function, its, Session(its.length("gap"))))
      case _ => None
    }

  private def multiple(arguments: WindowArguments, windows: WindowAssigner): WindowAssigner =
    windows match {
      case Hop(slide, size, _) if size % slide != 0 => throw arguments.wrong()
      case Cumulate(step, size, _) if size % step != 0 => throw arguments.wrong()
      case fitting => fitting
    }

  private def call(
      function: String,
      arguments: WindowArguments,
      assigner: WindowAssigner): LogicalPlan = WindowFunctionCall(
    function,
    assigner,
    arguments.time,
    arguments.partition(isAllowed = assigner.isInstanceOf[Session]),
    arguments.rows)
}

/** Writes a call whose columns are known with Spark's own nodes. */
object ResolveWindowFunctions extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case call: WindowFunctionCall
        if call.child.resolved && (call.time +: call.partition).forall(_.resolved) =>
      call.time match {
        case time: Attribute
            if time.dataType == TimestampType || time.dataType == TimestampNTZType =>
          call.assigner match {
            case session: Session => SessionTable(session, time, call.partition, call.child)
            case other => WindowTable(other, time, call.child)
          }
        case other =>
          throw ChangelogErrors.badSourceColumn(
            call.function,
            AttributeReference(other.sql, other.dataType)(),
            "DESCRIPTOR",
            "a column of type TIMESTAMP or TIMESTAMP_NTZ")
      }
  }
}
