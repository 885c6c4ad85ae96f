package io.firesteel.changelog.fold

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Values and their numbers of rows, packed into bytes. Each packed array is one entry of a store,
 * or one row between the halves of an aggregate: an entry per value would take ten times its size
 * or more.
 *
 * Format, in words of eight bytes: twice the number of values, plus one if counts follow; the
 * values, each a word, or a length and a row; the counts, omitted if each is 1.
 */
private[changelog] object PackedValues {

  private val base = Platform.BYTE_ARRAY_OFFSET

  /** Packs the entries `chosen(from until until)`; each must count at least one row in the tally. */
  def pack(
      values: ValueTallies,
      chosen: Array[Int],
      from: Int,
      until: Int,
      tally: Int = 0): Array[Byte] = {
    var (once, size, i) = (true, 8L, from)
    while (i < until) {
      if (values.count(chosen(i), tally) != 1L) once = false
      size += 8L + (if (values.isNumber) 0L else values.row(chosen(i)).getSizeInBytes.toLong)
      i += 1
    }
    if (!once) size += (until - from) * 8L
    val bytes = new Array[Byte](Math.toIntExact(size))
    Platform.putLong(bytes, base.toLong, (until - from) * 2L + (if (once) 0L else 1L))
    var at = base + 8L
    i = from
    while (i < until) {
      if (values.isNumber) Platform.putLong(bytes, at, values.number(chosen(i)))
      else {
        val row = values.row(chosen(i))
        Platform.putLong(bytes, at, row.getSizeInBytes.toLong)
        row.writeToMemory(bytes, at + 8L)
        at += row.getSizeInBytes
      }
      at += 8L
      i += 1
    }
    i = from
    while (!once && i < until) {
      Platform.putLong(bytes, at, values.count(chosen(i), tally))
      at += 8L
      i += 1
    }
    bytes
  }

  /**
   * Adds packed values to the tallies of a group.
   *
   * @param fields number of columns of a value
   */
  def unpack(bytes: Array[Byte], fields: Int, group: Int, to: ValueTallies): Unit = {
    val head = Platform.getLong(bytes, base.toLong)
    val (n, counted) = ((head >> 1).toInt, (head & 1L) != 0L)
    val row = if (to.isNumber) null else new UnsafeRow(fields)
    var countAt = base + bytes.length - n * 8L
    var at = base + 8L
    var i = 0
    while (i < n) {
      val count = if (counted) Platform.getLong(bytes, countAt) else 1L
      if (to.isNumber) to.addNumber(group, Platform.getLong(bytes, at), count)
      else {
        val size = Platform.getLong(bytes, at).toInt
        row.pointTo(bytes, at + 8L, size)
        to.addRow(group, row, count)
        at += size
      }
      at += 8L
      countAt += 8L
      i += 1
    }
  }
}
