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
 *
 * Where entries expire a set shrinks in the same way. How many values have gone is told by the entries that
 * are looked at: one with less than a third of its share has lost what it lacks, since the hash spreads
 * values so that none has less than half of it.
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
    val share = size.values(state) / math.max(buckets, 1)
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
      while (i < byBucket.length && (byBucket(i) >>> 32).toInt == bucket) {
        change(values, changes, byBucket(i).toInt, tell)
        i += 1
      }
      val kept = entriesOf(values)
      size.add(state, (kept.length - before).toLong)
      if (entries.expires && before * 3L < share) size.add(state, before - share)
      visited += 1
      seen += kept.length
      save(group, set, bucket, values, kept)
    }
    // An entry that was not looked at may have values.
    if (entries.expires) {
      size.raise(state, if (visited < size.buckets(state)) seen.max(1L) else seen)
      shrink(group, state, set, until - from)
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
      visit: (ValueTallies, Int) => Unit): Unit = {
    val size = layout.sets(set).size
    var found = 0L
    (0 until size.buckets(state)).foreach { bucket =>
      val values = load(group, set, bucket)
      found += values.size
      (0 until values.size).foreach(entry => if (values.count(entry) > 0L) visit(values, entry))
    }
    if (entries.expires && found < size.values(state)) {
      size.add(state, found - size.values(state))
      if (found == 0L) size.clear(state) else shrink(group, state, set, Int.MaxValue)
    }
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

  /**
   * Takes away the last entries where there are twice as many as the values need, with so many changes beside
   * them: no more than `most` at a time, unless all have been looked at anyway.
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

  /** Moves the values of the last entry to where they have come from. */
  private def join(group: UnsafeRow, set: Int, bucket: Int): Unit = {
    val gone = load(group, set, bucket)
    if (gone.size > 0) {
      entries.remove(made.bucketKeyOf(group, set, bucket))
      val to = bucket - Integer.highestOneBit(bucket)
      val values = load(group, set, to, keeping = true)
      save(group, set, to, values, entriesOf(values))
    }
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

  private def load(
      group: UnsafeRow,
      set: Int,
      bucket: Int,
      keeping: Boolean = false): ValueTallies = {
    val values = loaded(set)
    if (!keeping) values.clear()
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
