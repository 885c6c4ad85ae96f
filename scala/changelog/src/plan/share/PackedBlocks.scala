package io.firesteel.changelog.plan.share

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.unsafe.Platform

/**
 * Rows as blocks of bytes: few objects, which Spark's memory manager counts exactly. A row is its
 * length, as 8 bytes so that it stays aligned, and its bytes.
 */
final private[share] class PackedBlocks(rows: Iterator[InternalRow], toUnsafe: UnsafeProjection)
  extends Iterator[Array[Byte]] {
  import PackedBlocks._

  override def hasNext: Boolean = rows.hasNext

  override def next(): Array[Byte] = {
    var block = new Array[Byte](startBytes)
    var used = 0
    while (used < fullBytes && rows.hasNext) {
      val row = rows.next() match {
        case unsafe: UnsafeRow => unsafe
        case other => toUnsafe(other)
      }
      val size = row.getSizeInBytes
      val end = Math.addExact(used, header + size)
      if (end > block.length) block = Arrays.copyOf(block, math.max(end, growth(block.length)))
      Platform.putLong(block, Platform.BYTE_ARRAY_OFFSET + used, size.toLong)
      row.writeToMemory(block, Platform.BYTE_ARRAY_OFFSET + used + header)
      used = end
    }
    if (used == block.length) block else Arrays.copyOf(block, used)
  }

  private def growth(bytes: Int): Int = if (bytes > Int.MaxValue / 2) bytes else bytes * 2
}

private[share] object PackedBlocks {
  val header: Int = 8
  private val startBytes = 4096
  private val fullBytes = 512 * 1024
}

/** The rows of blocks; each `next` overwrites the row before. */
final private[share] class UnpackedRows(blocks: Iterator[Array[Byte]], fields: Int)
  extends Iterator[InternalRow] {

  private[this] val row = new UnsafeRow(fields)
  private[this] var block = Array.emptyByteArray
  private[this] var at = 0

  override def hasNext: Boolean = {
    while (at >= block.length && blocks.hasNext) {
      block = blocks.next()
      at = 0
    }
    at < block.length
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more rows")
    val start = Platform.BYTE_ARRAY_OFFSET + at
    val size = Platform.getLong(block, start.toLong).toInt
    row.pointTo(block, start.toLong + PackedBlocks.header, size)
    at += PackedBlocks.header + size
    row
  }
}
