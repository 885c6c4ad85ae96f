package io.firesteel.changelog.aggregate

import java.nio.ByteBuffer
import java.util.Arrays

/** Panes of one key that no window has yet, in the order of time. */
final private[aggregate] class ComingPanes {

  private[this] var panes = new Array[Long](16)
  private[this] var from = 0
  private[this] var until = 0

  def isEmpty: Boolean = from == until

  def size: Int = until - from

  def first: Long = panes(from)

  def removeFirst(): Long = {
    from += 1
    panes(from - 1)
  }

  /** Adds a pane; whether it is new. */
  def add(pane: Long): Boolean = {
    // Most come in order.
    val found = if (isEmpty || panes(until - 1) < pane) -until - 1
    else Arrays.binarySearch(panes, from, until, pane)
    if (found < 0) {
      val place = -found - 1 - from
      if (until == panes.length) makeRoom()
      val at = from + place
      System.arraycopy(panes, at, panes, at + 1, until - at)
      panes(at) = pane
      until += 1
    }
    found < 0
  }

  private def makeRoom(): Unit = {
    val next = if (from > panes.length / 2) panes else new Array[Long](panes.length * 2)
    System.arraycopy(panes, from, next, 0, size)
    until -= from
    from = 0
    panes = next
  }

  def clear(): Unit = {
    from = 0
    until = 0
  }

  def write(to: ByteBuffer): Unit = {
    var i = from
    while (i < until) {
      to.putLong(panes(i))
      i += 1
    }
  }
}
