package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.GroupState
import io.firesteel.changelog.fold.{PackedValues, ValueTallies}
import io.firesteel.changelog.state.StateEntries

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Callback with a value's number of rows before and after a change. */
private[aggregate] trait ValueChange {
  def apply(values: ValueTallies, entry: Int, before: Long, after: Long): Unit
}

/**
 * The values of one set of one group in the store, in buckets. Each bucket is an entry with some
 * hundreds of values, so a change of a value reads and writes one bucket.
 *
 * Linear hashing (Litwin, 1980): buckets are added one at a time as the set grows, and each takes
 * its values from one other bucket. So a set of any size grows without a pause.
 *
 * With a time to live a set shrinks in the same way. The buckets that are read show how many values
 * have expired: a bucket with less than a third of the average has lost the rest. The hash
 * distributes values so evenly that a bucket without losses has at least half of the average.
 *
 * @param counts whether the rows of a value are counted; otherwise whether there is one, as rows that
 *   only come need no more
 * @param holds whether buckets of one group stay in memory until [[flush]]: values come and go many
 *   times in a micro-batch that closes many windows
 */
final private[aggregate] class ValueBuckets(
    layout: AggregateLayout,
    made: AggregateRows,
    entries: StateEntries,
    counts: Boolean = true,
    holds: Boolean = false) {
  import ValueBuckets.maxHeld

  private[this] val loaded = layout.sets.map(set => new ValueTallies(set.isNumber))

  // For each set the buckets that are held, all of one group.
  private[this] val held = layout.sets.map(_ => mutable.HashMap.empty[Int, ValueTallies])
  private[this] var heldOf: UnsafeRow = _
  private[this] var heldValues = 0L
  private[this] var isTouched = false

  /** Writes the buckets that are held. */
  def flush(): Unit = if (heldValues > 0L) {
    held.indices.foreach { set =>
      held(set).foreach { case (bucket, values) =>
        write(heldOf, set, bucket, values, entriesOf(values))
      }
      held(set).clear()
    }
    heldValues = 0L
  }

  /** Adds the tallies `changed(from until until)` to those in the store. */
  def add(
      group: UnsafeRow,
      state: GroupState,
      set: Int,
      changes: ValueTallies,
      changed: Array[Int],
      from: Int,
      until: Int)(tell: ValueChange): Unit = {
    val size = layout.sets(set).size
    grow(group, state, set, size.values(state) + (until - from))
    val buckets = size.buckets(state)
    val share = size.values(state) / math.max(buckets, 1)
    if (heldValues > maxHeld) flush()
    val byBucket = new Array[Long](until - from)
    var i = 0
    while (i < byBucket.length) {
      val entry = changed(from + i)
      byBucket(i) = (bucketOf(changes.hash(entry), buckets).toLong << 32) | entry
      i += 1
    }
    java.util.Arrays.sort(byBucket)
    i = 0
    var (visited, seen) = (0, 0L)
    while (i < byBucket.length) {
      val bucket = (byBucket(i) >>> 32).toInt
      val values = load(group, set, bucket)
      val before = values.size
      var added = 0L
      isTouched = entries.expires
      while (i < byBucket.length && (byBucket(i) >>> 32).toInt == bucket) {
        added += change(values, changes, byBucket(i).toInt, tell)
        i += 1
      }
      size.add(state, added)
      if (entries.expires && before * 3L < share) size.add(state, before - share)
      visited += 1
      seen += before + added
      if (holds) heldValues += values.size - before
      else if (isTouched) write(group, set, bucket, values, entriesOf(values))
    }
    // A bucket that was not read may have values.
    if (entries.expires) {
      size.raise(state, if (visited < size.buckets(state)) seen.max(1L) else seen)
      shrink(group, state, set, until - from)
    }
    if (size.values(state) == 0L) size.clear(state)
  }

  /** Removes a set from the store. */
  def forget(group: UnsafeRow, state: GroupState, set: Int): Unit = {
    flush()
    (0 until layout.sets(set).size.buckets(state)).foreach { bucket =>
      entries.remove(made.bucketKeyOf(group, set, bucket))
    }
  }

  /** Visits the present values of a set. */
  def foreach(group: UnsafeRow, state: GroupState, set: Int)(
      visit: (ValueTallies, Int) => Unit): Unit = {
    flush()
    val size = layout.sets(set).size
    var found = 0L
    (0 until size.buckets(state)).foreach { bucket =>
      val values = read(group, set, bucket)
      found += values.size
      (0 until values.size).foreach(entry => if (values.count(entry) > 0L) visit(values, entry))
    }
    if (entries.expires && found < size.values(state)) {
      size.add(state, found - size.values(state))
      if (found == 0L) size.clear(state) else shrink(group, state, set, Int.MaxValue)
    }
  }

  /** Changes the tally of a value; by how many the number of values grows. */
  private def change(
      values: ValueTallies,
      changes: ValueTallies,
      changed: Int,
      tell: ValueChange): Int =
    if (changes.count(changed) == 0L) 0
    else {
      val entry =
        if (values.isNumber) values.ofNumber(0, changes.number(changed))
        else values.ofRow(0, changes.row(changed))
      val before = values.count(entry)
      val come = changes.count(changed)
      val added = if (counts || come <= 0L) come else if (before > 0L) 0L else 1L
      val after = entries.present(before + added)
      if (after != before) isTouched = true
      values.addTo(entry, after - before)
      tell(values, entry, before, after)
      (if (after == 0L) 0 else 1) - (if (before == 0L) 0 else 1)
    }

  /** Adds the buckets that so many values need. */
  private def grow(group: UnsafeRow, state: GroupState, set: Int, values: Long): Unit = {
    val size = layout.sets(set).size
    val wanted = Math.toIntExact(values / layout.sets(set).perBucket + 1)
    // An empty set has no values to move.
    if (size.values(state) > 0L && wanted > size.buckets(state)) {
      flush()
      (size.buckets(state) until wanted).foreach(bucket => split(group, set, bucket))
    }
    if (wanted > size.buckets(state)) size.setBuckets(state, wanted)
  }

  /**
   * Merges the last buckets if there are more than twice as many as needed; pending changes count
   * as values. At most `most` buckets at a time, unless all were read anyway.
   */
  private def shrink(group: UnsafeRow, state: GroupState, set: Int, most: Int): Unit = {
    val size = layout.sets(set).size
    val changes = if (most == Int.MaxValue) 0L else most.toLong
    val wanted = Math.toIntExact((size.values(state) + changes) / layout.sets(set).perBucket + 1)
    val buckets = size.buckets(state)
    if (buckets > 2 * wanted) {
      val left = math.max(wanted, buckets - most)
      (left until buckets).reverse.foreach(bucket => join(group, set, bucket))
      size.setBuckets(state, left)
    }
  }

  /** Moves the values of the last bucket back to the bucket that they came from. */
  private def join(group: UnsafeRow, set: Int, bucket: Int): Unit = {
    val gone = read(group, set, bucket)
    if (gone.size > 0) {
      entries.remove(made.bucketKeyOf(group, set, bucket))
      val to = bucket - Integer.highestOneBit(bucket)
      val values = read(group, set, to, keeping = true)
      write(group, set, to, values, entriesOf(values))
    }
  }

  /** Moves values to the new bucket that they now belong to. */
  private def split(group: UnsafeRow, set: Int, bucket: Int): Unit = {
    val from = bucket - Integer.highestOneBit(bucket)
    val values = read(group, set, from)
    val (gone, kept) = entriesOf(values).partition { entry =>
      bucketOf(values.hash(entry), bucket + 1) == bucket
    }
    if (gone.nonEmpty) {
      write(group, set, bucket, values, gone)
      write(group, set, from, values, kept)
    }
  }

  private def load(group: UnsafeRow, set: Int, bucket: Int): ValueTallies =
    if (!holds) read(group, set, bucket)
    else held(set).getOrElseUpdate(
      bucket, {
        val values = new ValueTallies(layout.sets(set).isNumber)
        fill(values, group, set, bucket)
        heldOf = group
        heldValues += values.size + 1
        values
      })

  private def read(
      group: UnsafeRow,
      set: Int,
      bucket: Int,
      keeping: Boolean = false): ValueTallies = {
    val values = loaded(set)
    if (!keeping) values.clear()
    fill(values, group, set, bucket)
    values
  }

  private def fill(values: ValueTallies, group: UnsafeRow, set: Int, bucket: Int): Unit = {
    val stored = entries.get(made.bucketKeyOf(group, set, bucket))
    if (stored != null) {
      PackedValues.unpack(
        stored.getBinary(layout.valuesAt),
        layout.sets(set).types.size,
        0,
        values)
    }
  }

  private def write(
      group: UnsafeRow,
      set: Int,
      bucket: Int,
      values: ValueTallies,
      kept: Array[Int]): Unit = {
    val key = made.bucketKeyOf(group, set, bucket)
    if (kept.isEmpty) entries.remove(key)
    else entries.put(key, made.valueOf(PackedValues.pack(values, kept, 0, kept.length)))
  }

  private def entriesOf(values: ValueTallies): Array[Int] = {
    val kept = Array.newBuilder[Int]
    var entry = 0
    while (entry < values.size) {
      if (values.count(entry) != 0L) kept += entry
      entry += 1
    }
    kept.result()
  }

  /** The bucket of a value among so many buckets. */
  private def bucketOf(hash: Int, buckets: Int): Int =
    if (buckets <= 1) 0
    else {
      val half = Integer.highestOneBit(buckets - 1)
      val wide = hash & (half * 2 - 1)
      if (wide < buckets) wide else wide - half
    }
}

private object ValueBuckets {

  /** Values that are held in memory: some 20 megabytes of numbers. */
  private val maxHeld = 1L << 19
}
