package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.GroupState
import io.firesteel.changelog.fold.{PackedValues, ValueTallies}
import io.firesteel.changelog.state.StateEntries
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Told how many rows a value had and has. */
private[aggregate] trait ValueChange {
  def apply(values: ValueTallies, entry: Int, before: Long, after: Long): Unit
}

/**
 * The values of one set of one group in the store: in as many entries as they need, each with a
 * share of some hundreds, so that a change reads and writes its share alone.
 *
 * Linear hashing (Litwin, 1980): entries are added one at a time as values come, and each takes its
 * values from one other, so that a set of any size grows without a pause.
 */
final private[aggregate] class ValueBuckets(
    layout: AggregateLayout,
    made: AggregateRows,
    entries: StateEntries) {

  private[this] val loaded = layout.sets.map(set => new ValueTallies(set.isNumber))

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
    val byBucket = new Array[Long](until - from)
    var i = 0
    while (i < byBucket.length) {
      val entry = changed(from + i)
      byBucket(i) = (bucketOf(changes.hash(entry), buckets).toLong << 32) | entry
      i += 1
    }
    java.util.Arrays.sort(byBucket)
    i = 0
    while (i < byBucket.length) {
      val bucket = (byBucket(i) >>> 32).toInt
      val values = load(group, set, bucket)
      val before = values.size
      while (i < byBucket.length && (byBucket(i) >>> 32).toInt == bucket) {
        change(values, changes, byBucket(i).toInt, tell)
        i += 1
      }
      val kept = entriesOf(values)
      size.add(state, (kept.length - before).toLong)
      save(group, set, bucket, values, kept)
    }
    if (size.values(state) == 0L) size.clear(state)
  }

  /** Takes a set out of the store. */
  def forget(group: UnsafeRow, state: GroupState, set: Int): Unit =
    (0 until layout.sets(set).size.buckets(state)).foreach { bucket =>
      entries.remove(made.bucketKeyOf(group, set, bucket))
    }

  /** Visits all values of a set that have rows. */
  def foreach(group: UnsafeRow, state: GroupState, set: Int)(
      visit: (ValueTallies, Int) => Unit): Unit =
    (0 until layout.sets(set).size.buckets(state)).foreach { bucket =>
      val values = load(group, set, bucket)
      (0 until values.size).foreach(entry => if (values.count(entry) > 0L) visit(values, entry))
    }

  private def change(
      values: ValueTallies,
      changes: ValueTallies,
      changed: Int,
      tell: ValueChange): Unit =
    if (changes.count(changed) != 0L) {
      val entry =
        if (values.isNumber) values.ofNumber(0, changes.number(changed))
        else values.ofRow(0, changes.row(changed))
      val before = values.count(entry)
      val after = entries.present(before + changes.count(changed))
      values.addTo(entry, after - before)
      tell(values, entry, before, after)
    }

  /** Makes as many entries as so many values need. */
  private def grow(group: UnsafeRow, state: GroupState, set: Int, values: Long): Unit = {
    val size = layout.sets(set).size
    val wanted = Math.toIntExact(values / layout.sets(set).perBucket + 1)
    // Without values there is nothing to take from another entry.
    if (size.values(state) > 0L) {
      (size.buckets(state) until wanted).foreach(bucket => split(group, set, bucket))
    }
    if (wanted > size.buckets(state)) size.setBuckets(state, wanted)
  }

  /** Moves to a new entry the values that belong there from now on. */
  private def split(group: UnsafeRow, set: Int, bucket: Int): Unit = {
    val from = bucket - Integer.highestOneBit(bucket)
    val values = load(group, set, from)
    val (gone, kept) = entriesOf(values).partition { entry =>
      bucketOf(values.hash(entry), bucket + 1) == bucket
    }
    if (gone.nonEmpty) {
      save(group, set, bucket, values, gone)
      save(group, set, from, values, kept)
    }
  }

  private def load(group: UnsafeRow, set: Int, bucket: Int): ValueTallies = {
    val values = loaded(set)
    values.clear()
    val stored = entries.get(made.bucketKeyOf(group, set, bucket))
    if (stored != null) {
      PackedValues.unpack(
        stored.getBinary(layout.valuesAt),
        layout.sets(set).types.size,
        0,
        values)
    }
    values
  }

  private def save(
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

  /** Where a value lies when there are so many entries. */
  private def bucketOf(hash: Int, buckets: Int): Int =
    if (buckets <= 1) 0
    else {
      val half = Integer.highestOneBit(buckets - 1)
      val wide = hash & (half * 2 - 1)
      if (wide < buckets) wide else wide - half
    }
}
