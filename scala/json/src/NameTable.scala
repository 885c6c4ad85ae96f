package io.firesteel.json

import java.util.Arrays

/** A hash table of names, found by their bytes. */
final private[json] class NameTable(names: Array[Array[Byte]]) {

  private[this] val mask = Integer.highestOneBit(names.length * 4 + 3) - 1

  private[this] val slots: Array[Int] = {
    val slots = Array.fill(mask + 1)(-1)
    for (name <- names.indices) {
      var slot = hash(names(name), 0, names(name).length) & mask
      while (slots(slot) >= 0) slot = (slot + 1) & mask
      slots(slot) = name
    }
    slots
  }

  /** The number of the name between the places, or -1. */
  def find(bytes: Array[Byte], from: Int, until: Int): Int = {
    var slot = hash(bytes, from, until) & mask
    while (slots(slot) >= 0 && !is(names(slots(slot)), bytes, from, until)) slot = (slot + 1) & mask
    slots(slot)
  }

  private def is(name: Array[Byte], bytes: Array[Byte], from: Int, until: Int): Boolean =
    name.length == until - from && Arrays.equals(name, 0, name.length, bytes, from, until)

  private def hash(bytes: Array[Byte], from: Int, until: Int): Int = {
    var hash = until - from
    var at = from
    while (at < until) {
      hash = hash * 31 + bytes(at)
      at += 1
    }
    hash ^ (hash >>> 15)
  }
}
