package io.firesteel.changelog.fold

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** A mutable count. */
final private[changelog] class Tally(var count: Long)

private[changelog] object Tally {
  type Map = java.util.LinkedHashMap[UnsafeRow, Tally]

  /** Adds to the tally of a key; a new key is copied. */
  def add(tallies: Map, key: UnsafeRow, count: Long): Unit = {
    val known = tallies.get(key)
    if (known == null) { val _ = tallies.put(key.copy(), new Tally(count)) }
    else known.count += count
  }
}
