package io.firesteel.changelog.state

import java.util.HashMap

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreCheckpointInfo, StateStoreId, StateStoreIterator, StateStoreMetrics, UnsafeRowPair}
import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec
import org.apache.spark.sql.types.StructType

/**
 * A store of one partition in a map, as unkind as Spark's may be. A row that it gives is overwritten
 * by the next one, and its bytes are wiped out: an algorithm that forgets to copy is found out.
 * Nothing may be written while entries are being read.
 */
final private[changelog] class MapStore(key: StructType, partition: Int = 0)
  extends UnreleasedStore {

  private[this] var committed = new HashMap[UnsafeRow, UnsafeRow]()
  private[this] var entries = new HashMap[UnsafeRow, UnsafeRow]()
  private[this] val (keyRow, valueRow) = (new Overwritten, new Overwritten)
  private[this] var reading = 0

  private[this] lazy val toPrefixes = key.fields.toSeq.inits.toSeq.reverse.map { columns =>
    UnsafeProjection.create(columns.zipWithIndex.map { case (field, i) =>
      BoundReference(i, field.dataType, nullable = true)
    })
  }

  var version: Long = 0L

  /** Entries, whether they have been committed or not. */
  def size: Int = entries.size

  override def get(key: UnsafeRow, family: String): UnsafeRow = valueRow.show(entries.get(key))

  override def put(key: UnsafeRow, value: UnsafeRow, family: String): Unit = {
    requireNoReader()
    val _ = entries.put(key.copy(), value.copy())
  }

  override def remove(key: UnsafeRow, family: String): Unit = {
    requireNoReader()
    val _ = entries.remove(key)
  }

  override def prefixScan(
      prefix: UnsafeRow,
      family: String): StateStoreIterator[UnsafeRowPair] = {
    val (toPrefix, wanted) = (toPrefixes(prefix.numFields), prefix.copy())
    read(toPrefix(_) == wanted)
  }

  override def iterator(family: String): StateStoreIterator[UnsafeRowPair] = read(_ => true)

  private def read(wanted: UnsafeRow => Boolean): StateStoreIterator[UnsafeRowPair] = {
    val found = entries.asScala.toSeq.filter(entry => wanted(entry._1)).iterator
    val pair = new UnsafeRowPair()
    reading += 1
    var open = true
    def end(): Unit = if (open) { open = false; reading -= 1 }
    val rows = new Iterator[UnsafeRowPair] {
      override def hasNext: Boolean = {
        if (!found.hasNext) end()
        found.hasNext
      }
      override def next(): UnsafeRowPair = {
        val (key, value) = found.next()
        pair.withRows(keyRow.show(key), valueRow.show(value))
      }
    }
    new StateStoreIterator(rows, () => end())
  }

  private def requireNoReader(): Unit =
    require(reading == 0, "written while entries are being read")

  override def commit(): Long = {
    requireNoReader()
    committed = new HashMap(entries)
    version += 1
    version
  }

  override def abort(): Unit = entries = new HashMap(committed)

  override def hasCommitted: Boolean = entries == committed
  override val id: StateStoreId = StateStoreId("none", 0L, partition)
  override def metrics: StateStoreMetrics = StateStoreMetrics(size.toLong, 0L, Map.empty)
  // Without `override`, like some below: not every version of Spark has it.
  def allColumnFamilyNames: Set[String] = Set(StateStore.DEFAULT_COL_FAMILY_NAME)
  override def getStateStoreCheckpointInfo(): StateStoreCheckpointInfo = none
  override def removeColFamilyIfExists(family: String): Boolean = none
  override def createColFamilyIfAbsent(
      family: String,
      key: StructType,
      value: StructType,
      encoder: KeyStateEncoderSpec,
      multiple: Boolean,
      internal: Boolean): Unit = none
  def putList(key: UnsafeRow, values: Array[UnsafeRow], family: String): Unit = none
  override def merge(key: UnsafeRow, value: UnsafeRow, family: String): Unit = none
  def mergeList(key: UnsafeRow, values: Array[UnsafeRow], family: String): Unit = none
  override def valuesIterator(key: UnsafeRow, family: String): Iterator[UnsafeRow] = none
  def iteratorWithMultiValues(family: String): StateStoreIterator[UnsafeRowPair] = none
  def prefixScanWithMultiValues(
      prefix: UnsafeRow,
      family: String): StateStoreIterator[UnsafeRowPair] = none

  private def none =
    throw new UnsupportedOperationException("the default provider has no such thing")
}

/** One row object for all rows; the bytes that it showed before are wiped out. */
final private class Overwritten {

  private[this] var row: UnsafeRow = _
  private[this] var bytes: Array[Byte] = Array.emptyByteArray

  def show(stored: UnsafeRow): UnsafeRow = {
    java.util.Arrays.fill(bytes, 0.toByte)
    if (stored == null) null
    else {
      if (row == null) row = new UnsafeRow(stored.numFields)
      bytes = stored.getBytes.clone()
      row.pointTo(bytes, bytes.length)
      row
    }
  }
}
