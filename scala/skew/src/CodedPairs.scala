package io.firesteel.skew

import io.firesteel.core.rows.KeyIndex
import java.util.Arrays

/**
 * Pairs of a group and the code of a value, collected for one block. The block has a value once,
 * for all of its groups:
 *
 *  1. the number of values
 *  1. for each value, the value and the number of its groups
 *  1. the groups by their numbers in the block, each as the difference from the one before
 */
private[skew] final class CodedPairs {

  private[this] var pairs = Array.emptyLongArray // upper half: code, lower half: group
  private[this] var values: KeyIndex = _
  private[this] var size = 0

  def add(group: Int, values: KeyIndex, code: Int): Unit = {
    this.values = values
    if (size == pairs.length) pairs = Arrays.copyOf(pairs, math.max(16, size * 2))
    pairs(size) = (code.toLong << 32) | group.toLong
    size += 1
  }

  /**
   * Writes all pairs and removes them.
   *
   * @param placeOf the number of a group in the block
   * @param keep number of pairs for which memory is kept
   */
  def write(placeOf: Int => Int, out: BlockBytes, keep: Int): Unit = {
    Arrays.sort(pairs, 0, size)
    out.putNumber(valuesIn(0, size))
    var from = 0
    while (from < size) {
      val code = codeAt(from)
      var until = from + 1
      while (until < size && codeAt(until) == code) until += 1
      writeValue(code, out)
      writeGroups(from, until, placeOf, out)
      from = until
    }
    size = 0
    if (pairs.length > keep) pairs = Array.emptyLongArray
  }

  private def codeAt(i: Int): Int = (pairs(i) >>> 32).toInt

  private def valuesIn(from: Int, until: Int): Long = {
    var count = 0L
    var i = from
    while (i < until) {
      if (i == from || codeAt(i) != codeAt(i - 1)) count += 1
      i += 1
    }
    count
  }

  private def writeValue(code: Int, out: BlockBytes): Unit = {
    val value = values.key(code)
    if (values.isNumber) out.putSigned(value.getLong(0))
    else {
      out.putNumber(value.getSizeInBytes.toLong)
      out.putBytes(value.getBaseObject, value.getBaseOffset, value.getSizeInBytes)
    }
  }

  // Groups get their numbers in order of first use, so the groups of the first value are in order.
  private def writeGroups(from: Int, until: Int, placeOf: Int => Int, out: BlockBytes): Unit = {
    out.putNumber((until - from).toLong)
    var last = 0
    var i = from
    while (i < until) {
      val place = placeOf(pairs(i).toInt)
      out.putSigned((place - last).toLong)
      last = place
      i += 1
    }
  }
}
