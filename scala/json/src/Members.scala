package io.firesteel.json

import java.util.Arrays

/**
 * Finds the members of an object that have one of some names, and checks the rest of it.
 *
 * The names of the last object are kept in their order, because most documents of a column have the
 * same names in the same order. Then a comparison of words finds the end of a name, and which it is.
 *
 * @param names UTF-8 names without duplicates
 */
final private[json] class Members(names: Array[Array[Byte]]) {
  import JsonText.{HandOver, Stopped}

  /** The place of each name's value; negative if there is none. */
  val starts: Array[Int] = new Array[Int](names.length)
  val ends: Array[Int] = new Array[Int](names.length)

  private[this] val order = new NameOrder
  private[this] val wanted = new NameTable(names)
  private[this] var listener: Members.Listener = _

  /** Tells each member that is found, in the document's order. */
  def tell(whom: Members.Listener): Unit = listener = whom

  /**
   * Skips an object from after its brace.
   *
   * It returns `Stopped` where a listener stops.
   *
   * A name that occurs twice is handed over, because each of Spark's functions has its own rule.
   */
  def find(text: JsonText, from: Int, depth: Int): Int = {
    Arrays.fill(starts, HandOver)
    var at = text.skipSpace(from)
    if (text.byteAt(at) == '}') at + 1
    else {
      var member = 0
      var open = true
      while (open) {
        at = one(text, at, member, depth)
        member += 1
        if (at < 0) open = false
        else {
          at = text.skipSpace(at)
          val next = text.byteAt(at)
          if (next == ',') at = text.skipSpace(at + 1)
          else {
            open = false
            at = if (next == '}') at + 1 else HandOver
          }
        }
      }
      at
    }
  }

  private def one(text: JsonText, from: Int, member: Int, depth: Int): Int =
    if (text.byteAt(from) != '"') HandOver
    else {
      val known = order.matches(text, from + 1, member)
      if (known >= 0) value(text, known, order.target(member), depth)
      else {
        val after = text.skipName(from + 1)
        if (after < 0 || text.hasEscapes) HandOver
        else {
          val target = wanted.find(text.bytes, from + 1, after - 1)
          order.remember(text.bytes, from + 1, after, member, target)
          value(text, after, target, depth)
        }
      }
    }

  private def value(text: JsonText, from: Int, target: Int, depth: Int): Int = {
    val start = text.skipColon(from)
    val end = if (start < 0) HandOver else text.skipValue(start, depth)
    if (end < 0 || target < 0) end
    else if (starts(target) >= 0) HandOver
    else {
      starts(target) = start
      ends(target) = end
      if (listener != null && listener.stops(target)) Stopped else end
    }
  }
}

private[json] object Members {

  /** Is told where a member is as soon as it is found. */
  abstract class Listener {

    /** Whether the rest of the object is not looked at. */
    def stops(name: Int): Boolean
  }
}
