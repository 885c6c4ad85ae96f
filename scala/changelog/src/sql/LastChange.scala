package io.firesteel.changelog.sql

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.fold.{ArrivalOrder, KeyChanges}

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, BoundReference, Expression, SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.aggregate.{ImperativeAggregate, TypedImperativeAggregate}
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * The row that the changes of one key leave, ordered by the sequence. It is null if they leave
 * none. [[KeyChanges]] finds the newest change, in streams as well.
 *
 * @param columns the columns of a change, then its kind and its position in the input
 * @param sequence positions of the sequence among the columns
 * @param rowType the type of a change, with names
 */
final private[changelog] case class LastChange(
    columns: Seq[Expression],
    sequence: Seq[Int],
    rowType: StructType,
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0)
  extends TypedImperativeAggregate[KeyChanges] {

  private def width: Int = rowType.size

  @transient private lazy val order: ArrivalOrder = new ArrivalOrder(sequence.map { at =>
    SortOrder(BoundReference(at, rowType(at).dataType, nullable = true), Ascending)
  })
  @transient private lazy val toRow: UnsafeProjection =
    ColumnProjection(columns.take(width))

  override def children: Seq[Expression] = columns
  override def dataType: DataType = rowType
  override def nullable: Boolean = true
  override def prettyName: String = "last_change"

  override def createAggregationBuffer(): KeyChanges = new KeyChanges(order)

  override def update(buffer: KeyChanges, input: InternalRow): KeyChanges = {
    val kind = columns(width).eval(input).asInstanceOf[Byte]
    buffer.offer(toRow(input), kind, columns(width + 1).eval(input).asInstanceOf[Long])
    buffer
  }

  override def merge(buffer: KeyChanges, input: KeyChanges): KeyChanges = {
    buffer.merge(input)
    buffer
  }

  override def eval(buffer: KeyChanges): Any = if (buffer.isDeletion) null else buffer.newest

  override def serialize(buffer: KeyChanges): Array[Byte] = {
    val bytes = new ByteArrayOutputStream()
    val out = new DataOutputStream(bytes)
    buffer.foreach { (row, kind, place) =>
      out.writeByte(kind.toInt)
      out.writeLong(place)
      out.writeInt(row.getSizeInBytes)
      row.writeToStream(out, null)
    }
    bytes.toByteArray
  }

  override def deserialize(storage: Array[Byte]): KeyChanges = {
    val (buffer, in) =
      (createAggregationBuffer(), new DataInputStream(new ByteArrayInputStream(storage)))
    while (in.available() > 0) {
      val (kind, place) = (in.readByte(), in.readLong())
      val bytes = new Array[Byte](in.readInt())
      in.readFully(bytes)
      val row = new UnsafeRow(width)
      row.pointTo(bytes, bytes.length)
      buffer.offer(row, kind, place)
    }
    buffer
  }

  override def withNewMutableAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(mutableAggBufferOffset = offset)
  override def withNewInputAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(inputAggBufferOffset = offset)
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): LastChange =
    copy(columns = newChildren)
}
