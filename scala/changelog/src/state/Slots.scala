package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, Explode, If, LeafExpression, Literal, Murmur3Hash, Pmod, Sequence}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.logical.{Generate, LogicalPlan}
import org.apache.spark.sql.types.{BooleanType, DataType, IntegerType}

/**
 * A join without an equality, whose right side has at most one row, such as `v > (SELECT avg(v) FROM
 * t)`: the left side's rows are spread over slots, and each slot has the right side's row. Without
 * slots one task would have all rows.
 *
 * The number of slots is part of the state, so it does not depend on the number of tasks. 64 slots
 * give work to at most 64 tasks, and each change of the one row becomes 64.
 *
 * A checkpoint that began without slots has one, with all rows.
 */
private[changelog] object Slots {

  private val count = 64

  /** The name of the state's column. */
  val name: String = s"slot_of_$count"

  /** Whether a checkpoint has slots: one that is new, or whose state has the column. */
  def areIn(kept: KeptCalls): Boolean = kept.keys.isEmpty || kept.keys.exists(_.endsWith(name))

  /** The slot of a row of the left side. */
  def of(identity: Seq[Attribute], kept: KeptCalls): Alias = {
    val slot = Pmod(Murmur3Hash(identity, 42), Literal(count))
    Alias(If(IsInSlots(kept), slot, Literal(0)), "slot")()
  }

  /** The rows in each slot, and the column of the slot. */
  def everywhere(rows: LogicalPlan, kept: KeptCalls): (LogicalPlan, Attribute) = {
    val slot = AttributeReference("slot", IntegerType, nullable = false)()
    val last = If(IsInSlots(kept), Literal(count - 1), Literal(0))
    // A sequence of numbers reads no time zone, but Spark does not resolve it without one.
    val slots = Sequence(Literal(0), last, None, Some("UTC"))
    (Generate(Explode(slots), Nil, outer = false, None, Seq(slot), rows), slot)
  }
}

/** Whether the checkpoint has slots. It is known when the first micro-batch is planned. */
final private[state] case class IsInSlots(kept: KeptCalls) extends LeafExpression {
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false
  override def eval(input: InternalRow): Any = Slots.areIn(kept)
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    Literal(Slots.areIn(kept)).genCode(ctx)
  override def toString: String = "is_in_slots"
}
