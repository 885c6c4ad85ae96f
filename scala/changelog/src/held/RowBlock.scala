package io.firesteel.changelog.held

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Rows as bytes: of each its length, as 8 bytes so that it stays aligned, and its bytes. */
final private[held] class RowBlock {
  import RowBlock.{header, startBytes}

  private[this] var bytes = new Array[Byte](startBytes)
  private[this] var used = 0

  def size: Int = used
  def capacity: Int = bytes.length

  def add(row: UnsafeRow): Unit = {
    val end = Math.addExact(used, header + row.getSizeInBytes)
    if (end > bytes.length) bytes = Arrays.copyOf(bytes, math.max(end, bytes.length * 2))
    Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET + used, row.getSizeInBytes.toLong)
    row.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + used + header)
    used = end
  }

  def clear(): Unit = {
    bytes = new Array[Byte](startBytes)
    used = 0
  }

  def toBytes: Array[Byte] = Arrays.copyOf(bytes, used)
}

private[held] object RowBlock {
  private val header = 8
  private val startBytes = 256

  /** A block with so many bytes is written. */
  val fullBytes: Int = 64 * 1024

  /** The rows of a block, each in this row. */
  def rows(bytes: Array[Byte], row: UnsafeRow): Iterator[UnsafeRow] = new Iterator[UnsafeRow] {
    private[this] var at = 0
    override def hasNext: Boolean = at < bytes.length
    override def next(): UnsafeRow = {
      val start = Platform.BYTE_ARRAY_OFFSET + at
      val size = Platform.getLong(bytes, start.toLong).toInt
      row.pointTo(bytes, start.toLong + header, size)
      at += header + size
      row
    }
  }
}
