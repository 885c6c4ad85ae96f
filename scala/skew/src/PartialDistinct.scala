package io.firesteel.skew

import scala.collection.mutable

import io.firesteel.core.{KeyReader, MemoryBudget}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The half of a distinct aggregation that is below the exchange: rows in, blocks for buckets out.
 *
 * It finds duplicates among the rows of its task and may forget what it found at any time, since
 * duplicates are found again above the exchange. So when memory is refused it sends on all that it
 * holds; and a column whose values turn out new, one after the other, is sent on without a look.
 *
 * @param rows with the key, a field for each column, which is null where the row adds nothing to
 *   it, and what the other aggregates read
 * @param valueAt for each column the place of its field
 * @param sampleValues values of a column after which it is judged
 * @param maxNewShare the share of new ones among the latter half of them above which the column is
 *   sent on as it comes
 */
private[skew] final class PartialDistinct(
    rows: Iterator[UnsafeRow],
    groups: Groups,
    numbers: Array[Boolean],
    keys: KeyReader,
    valueAt: Array[Int],
    buckets: Int,
    budget: MemoryBudget,
    sampleValues: Int,
    maxNewShare: Double)
  extends Iterator[(Int, Array[Byte])] {

  private[this] val ready = mutable.Queue.empty[(Int, Array[Byte])]
  private[this] val writer = new BlockWriter(
    groups,
    numbers,
    buckets,
    Hashes.upper(_, buckets),
    (bucket, block) => ready += (bucket -> block))

  private[this] val columns = numbers.map { isNumber =>
    if (isNumber) new DistinctNumbers(groups.hash) else new DistinctBytes
  }
  private[this] val batches = columns.map {
    case table: DistinctNumbers => new NumberBatch(table)
    case _ => null
  }
  private[this] var fresh = 0
  private[this] var hasAdded = false // to a table, which may have to grow
  private[this] val samples = numbers.map(_ => new Sample)
  private[this] var knownGroups = 0
  private[this] var mostGroups = Int.MaxValue
  private[this] var seenRows = 0

  /** Values that were sent on without a look for duplicates. */
  var passedOn: Long = 0L

  override def hasNext: Boolean = {
    while (ready.isEmpty && rows.hasNext) take(rows.next())
    if (ready.isEmpty && (groups.size > 0)) sendAll()
    ready.nonEmpty
  }

  override def next(): (Int, Array[Byte]) =
    if (hasNext) ready.dequeue() else Iterator.empty.next()

  private def take(row: UnsafeRow): Unit = {
    val before = groups.size
    val group = groups.of(row, keys)
    if (!groups.areKeysAlone) groups.aggregates.update(groups.buffer(group), row)
    var named = false
    var column = 0
    while (column < numbers.length) {
      val at = valueAt(column)
      if (!row.isNullAt(at)) {
        named = true
        if (numbers(column)) addNumber(column, group, row.getLong(at))
        else addBytes(column, group, row, at)
      }
      column += 1
    }
    // Whether or not a value follows, a group that begins without one must be known above.
    if (groups.areKeysAlone && groups.size > before && !named)
      writer.state(group, Hashes.ofGroup(groups.hash(group)))
    if (hasAdded) {
      // Not before the row is done, since making room may end its group's number.
      hasAdded = false
      columns.foreach(values => if (values.growth > 0L) makeRoom(values))
    }
    if (groups.size > knownGroups + PartialDistinct.groupStep) {
      knownGroups = groups.size
      if (knownGroups > mostGroups || !budget.hold(held)) sendAll()
    }
    if (seenRows < sampleValues) {
      seenRows += 1
      // Groups that do not come again are better sent on while they still are in the cache.
      if (seenRows == sampleValues && groups.size > maxNewShare * sampleValues)
        mostGroups = PartialDistinct.fewGroups
    }
  }

  private def addNumber(column: Int, group: Int, number: Long): Unit = {
    val (chunk, mask) = (DistinctNumbers.chunkOf(number), DistinctNumbers.bitOf(number))
    if (samples(column).passes) {
      passedOn += 1
      writer.numbers(column, group, chunk, mask, Hashes.ofNumber(groups.hash(group), chunk))
    } else {
      batches(column).put(group, chunk, mask)
      if (batches(column).isFull) addBatch(column)
    }
  }

  private def addBatch(column: Int): Unit = {
    fresh = 0
    batches(column).add((_, _, _) => fresh += 1)
    hasAdded = true
    judge(column, NumberBatch.capacity, fresh)
  }

  private def addBytes(column: Int, group: Int, row: UnsafeRow, at: Int): Unit = {
    val place = row.getLong(at) // of a field with a variable length: offset and size
    val offset = row.getBaseOffset + (place >>> 32)
    val length = place.toInt
    val base = row.getBaseObject
    val hash = Hashes.ofBytes(groups.hash(group), base, offset, length)
    if (samples(column).passes) {
      passedOn += 1
      writer.bytes(column, group, base, offset, length, hash)
    } else {
      val isNew =
        columns(column).asInstanceOf[DistinctBytes].add(group, base, offset, length, hash)
      hasAdded = true
      judge(column, 1, if (isNew) 1 else 0)
    }
  }

  /** Counts some values, and how many of them were new. */
  private def judge(column: Int, values: Int, newOnes: Int): Unit = {
    val sample = samples(column)
    if (sample.seen < sampleValues) {
      sample.seen += values
      if (sample.seen * 2 > sampleValues) {
        sample.judged += values
        sample.newOnes += newOnes
      }
      if (sample.seen >= sampleValues && sample.newOnes > maxNewShare * sample.judged) {
        sample.passes = true
        columns(column).drain(column, writer)
      }
    }
  }

  private def makeRoom(column: DistinctValues): Unit =
    if (budget.hold(held + column.growth)) column.grow() else sendAll()

  private def held: Long = {
    var bytes = groups.bytes
    columns.foreach(bytes += _.bytes)
    bytes
  }

  /** Sends on everything, and begins anew. */
  private def sendAll(): Unit = {
    batches.foreach(batch => if (batch != null) batch.add((_, _, _) => ()))
    columns.indices.foreach(column => columns(column).drain(column, writer))
    if (!groups.areKeysAlone) writer.states()
    writer.flush()
    groups.clear()
    knownGroups = 0
    budget.releaseTo(0L)
  }

  private final class Sample {
    var seen = 0
    var judged = 0
    var newOnes = 0
    var passes = false
  }
}

private[skew] object PartialDistinct {
  private val groupStep = 64
  private val fewGroups = 64 << 10
}
