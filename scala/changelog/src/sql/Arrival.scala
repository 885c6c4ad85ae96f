package io.firesteel.changelog.sql

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, LeafExpression, Nondeterministic}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, CodeGenerator, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * The place of a row among those of its partition, with the partition's number above it: as Spark's
 * `monotonically_increasing_id()`, which it refuses anywhere in a query of streams.
 */
final private[changelog] case class Arrival() extends LeafExpression with Nondeterministic {
  import Arrival._

  @transient private var next = 0L

  override def stateful: Boolean = true
  override def nullable: Boolean = false
  override def dataType: DataType = LongType

  override protected def initializeInternal(partition: Int): Unit =
    next = partition.toLong << bitsOfRow

  override protected def evalInternal(input: InternalRow): Long = {
    next += 1
    next - 1
  }

  override def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val at = ctx.addMutableState(CodeGenerator.JAVA_LONG, "arrival")
    ctx.addPartitionInitializationStatement(s"$at = ((long) partitionIndex) << $bitsOfRow;")
    ev.copy(code = code"final long ${ev.value} = $at++;", isNull = FalseLiteral)
  }

  // Each user of the expression counts for itself.
  override def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression = copy()
}

private[changelog] object Arrival {

  /**
   * Whether an expression differs each time for another reason than the order of rows, which is the
   * source's.
   */
  def differsOtherwise(expression: Expression): Boolean = !expression.deterministic &&
    (expression match {
      case _: Arrival => false
      case its => its.children.forall(_.deterministic) || its.children.exists(differsOtherwise)
    })

  private val bitsOfRow = 33
}
