package io.firesteel.lookup

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeProjection}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{DataType, IntegerType}

/**
 * The partition of a key by the connector's partitioner.
 *
 * @param children values of the lookup keys, in the order of the dimension's columns
 */
private[lookup] final case class PartitionOfKey(
    children: Seq[Expression],
    connector: String,
    partitioner: InputDataPartitioner,
    numPartitions: Int)
  extends Expression
  with CodegenFallback {

  @transient private lazy val keyOf = UnsafeProjection.create(children)

  override lazy val deterministic: Boolean =
    PartitionOfKey.isDeterministic(connector, partitioner) && children.forall(_.deterministic)

  override def nullable: Boolean = false
  override def dataType: DataType = IntegerType

  override def eval(input: InternalRow): Any =
    try partitioner.partition(keyOf(input), numPartitions)
    catch {
      case NonFatal(thrown) =>
        val key = KeyText.of(children.map(value => value.eval(input) -> value.dataType))
        throw ConnectorCall.failed(connector, "partition", s"the key $key", thrown)
    }
  override def toString: String =
    children.mkString(s"${PartitionOfKey.nameOf(partitioner)}(", ", ", ")")

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): PartitionOfKey = copy(children = newChildren)
}

private[lookup] object PartitionOfKey {

  /** A partitioner's name in plans. */
  def nameOf(partitioner: InputDataPartitioner): String =
    partitioner.getClass.getSimpleName.stripSuffix("$")

  def isDeterministic(connector: String, partitioner: InputDataPartitioner): Boolean =
    ConnectorCall(connector, "isDeterministic", "its partitioner")(partitioner.isDeterministic())
}

/**
 * Checks that a partition number exists. Spark's shuffle by number would silently take it modulo
 * the number of partitions, and the task that gets the key would not have its rows.
 *
 * Rows with a null in a key are never looked up. The partitioner is not called for them; `other` is
 * their partition.
 *
 * @param number the connector's answer
 * @param other the partition of rows with a null in a key
 */
private[lookup] final case class CheckedPartition(
    number: Expression,
    other: Expression,
    keys: Seq[Expression],
    connector: String,
    numPartitions: Int)
  extends Expression
  with CodegenFallback {

  override def children: Seq[Expression] = number +: other +: keys
  override def toString: String = s"checked($number, from 0 to ${numPartitions - 1})"
  override def nullable: Boolean = false
  override def dataType: DataType = IntegerType

  override def eval(input: InternalRow): Any =
    if (keys.exists(_.eval(input) == null)) other.eval(input)
    else {
      number.eval(input) match {
        case n: Int if n >= 0 && n < numPartitions => n
        case n: Long if n >= 0 && n < numPartitions => n.toInt
        case wrong => throw LookupErrors.badPartition(
            connector,
            KeyText.of(keys.map(key => key.eval(input) -> key.dataType)),
            String.valueOf(wrong),
            numPartitions)
      }
    }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): CheckedPartition =
    copy(number = newChildren(0), other = newChildren(1), keys = newChildren.drop(2))
}
