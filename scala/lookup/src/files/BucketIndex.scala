package io.firesteel.lookup.files

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

/**
 * Rows by binary key, packed into pages: a hash table with chains of records.
 *
 * It never changes, so any number of threads may read it. Rows are read in place, without a copy.
 *
 * Memory: per row 16 bytes, the key, the row, and 8 to 16 bytes of table.
 *
 * @param pages records as [[Record]] describes them
 * @param table address of the first record of each chain
 */
private[files] final class BucketIndex(
    pages: Array[Array[Byte]],
    table: Array[Long],
    val rows: Long,
    memory: Option[StorageMemory]) {

  private[this] val mask = table.length - 1

  /** Bytes of pages and table. */
  val bytes: Long = pages.map(_.length.toLong).sum + table.length * 8L

  /** Address of the first row with this key, or [[Record.none]]. */
  def first(key: UnsafeRow): Long = firstIn(table(key.hashCode & mask), key)

  /** Address of the row with this key after `address`, or [[Record.none]]. */
  def next(address: Long, key: UnsafeRow): Long =
    firstIn(Platform.getLong(page(address), Record.offset(address)), key)

  /** Points `row` to the row at an address. */
  def point(address: Long, row: UnsafeRow): Unit = {
    val (base, offset) = (page(address), Record.offset(address))
    val keySize = Platform.getInt(base, offset + Record.keySize)
    val rowSize = Platform.getInt(base, offset + Record.rowSize)
    row.pointTo(base, offset + Record.key + keySize, rowSize)
  }

  /** Frees the memory, when no reader is left. */
  def release(): Unit = memory.foreach(_.giveBackAll())

  private def firstIn(chain: Long, key: UnsafeRow): Long = {
    var at = chain
    while (at != Record.none && !hasKey(at, key)) {
      at = Platform.getLong(page(at), Record.offset(at))
    }
    at
  }

  private def hasKey(address: Long, key: UnsafeRow): Boolean = {
    val (base, offset, size) = (page(address), Record.offset(address), key.getSizeInBytes)
    Platform.getInt(base, offset + Record.keySize) == size && ByteArrayMethods.arrayEquals(
      base,
      offset + Record.key,
      key.getBaseObject,
      key.getBaseOffset,
      size.toLong)
  }

  private def page(address: Long): Array[Byte] = pages((address >>> 32).toInt)
}

private[files] object BucketIndex {

  /** A bucket without files. */
  val empty: BucketIndex = new BucketIndex(Array.empty, Array(Record.none), 0L, None)
}

/**
 * A record: `[next in chain: 8 bytes][size of key: 4][size of row: 4][key][row]`. An address is the
 * page in its upper half, the byte in its lower.
 */
private[files] object Record {
  val none: Long = -1L
  val keySize: Long = 8L
  val rowSize: Long = 12L
  val key: Long = 16L

  def address(page: Int, at: Int): Long = (page.toLong << 32) | at

  /** The place of a record in its page, as `Platform` expects it. */
  def offset(address: Long): Long = (address & 0xffffffffL) + Platform.BYTE_ARRAY_OFFSET
}
