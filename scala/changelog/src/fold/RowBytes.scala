package io.firesteel.changelog.fold

import java.nio.ByteBuffer

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Rows one after another, each with its size before it. */
private[changelog] object RowBytes {

  def of(rows: collection.Seq[UnsafeRow]): Array[Byte] = {
    // An array has at most two gigabytes.
    val size = rows.iterator.map(_.getSizeInBytes + 4L).sum
    val all = ByteBuffer.allocate(Math.toIntExact(size))
    rows.foreach(row => all.putInt(row.getSizeInBytes).put(row.getBytes))
    all.array
  }

  /** @param fields number of columns of a row */
  def read(bytes: Array[Byte], fields: Int): Seq[UnsafeRow] = {
    val (all, rows) = (ByteBuffer.wrap(bytes), ArrayBuffer.empty[UnsafeRow])
    while (all.hasRemaining) {
      val own = new Array[Byte](all.getInt())
      all.get(own)
      val row = new UnsafeRow(fields)
      row.pointTo(own, own.length)
      rows += row
    }
    rows.toSeq
  }
}
