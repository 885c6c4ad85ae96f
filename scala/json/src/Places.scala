package io.firesteel.json

import java.util.Arrays

/** Places of values in a document whose grammar has been checked. Memory: the longest array. */
final private[json] class Places {

  private[this] var starts = new Array[Int](8)
  private[this] var ends = new Array[Int](8)
  private[this] var count = 0

  def size: Int = count

  def start(i: Int): Int = starts(i)

  def end(i: Int): Int = ends(i)

  def clear(): Unit = count = 0

  def add(start: Int, end: Int): Unit = {
    if (count == starts.length) {
      starts = Arrays.copyOf(starts, count * 2)
      ends = Arrays.copyOf(ends, count * 2)
    }
    starts(count) = start
    ends(count) = end
    count += 1
  }

  /** The elements of an array, from after its bracket. */
  def ofElements(text: JsonText, from: Int): Unit = {
    clear()
    var at = text.skipSpace(from)
    while (text.byteAt(at) != ']') {
      val end = text.skipValue(at, 0)
      add(at, end)
      at = text.skipSpace(end)
      if (text.byteAt(at) == ',') at = text.skipSpace(at + 1)
    }
  }
}

private[json] object Places {

  /** The members of an object, from after its brace. */
  def ofMembers(text: JsonText, from: Int, names: Places, values: Places): Unit = {
    names.clear()
    values.clear()
    var at = text.skipSpace(from)
    while (text.byteAt(at) != '}') {
      val afterName = text.skipString(at + 1)
      names.add(at, afterName)
      val start = text.skipColon(afterName)
      val end = text.skipValue(start, 0)
      values.add(start, end)
      at = text.skipSpace(end)
      if (text.byteAt(at) == ',') at = text.skipSpace(at + 1)
    }
  }
}
