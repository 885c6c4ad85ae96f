package io.firesteel.skew

import java.util.Arrays

/**
 * Finds numbers by their positions in ascending order, without sorting all numbers: quickselect,
 * linear on average. A range that does not shrink fast enough is sorted.
 */
private[skew] object Selection {

  private val sortedUpTo = 32
  private val mostSelected = 16

  /** The numbers at these positions among the first `size`, which it reorders. */
  def at(numbers: Array[Long], size: Int, places: Array[Long]): Array[Long] = {
    val wanted = places.map(_.toInt).distinct.sorted
    if (wanted.length > mostSelected) Arrays.sort(numbers, 0, size)
    else {
      var from = 0
      wanted.foreach { place =>
        select(numbers, from, size, place)
        from = place + 1
      }
    }
    places.map(place => numbers(place.toInt))
  }

  /** Puts the right number at `place`, smaller ones before and larger ones behind it. */
  private def select(numbers: Array[Long], from: Int, until: Int, place: Int): Unit = {
    var left = from
    var right = until - 1
    var rounds = 2 * (32 - Integer.numberOfLeadingZeros(until - from))
    while (right - left >= sortedUpTo && rounds > 0) {
      rounds -= 1
      val pivot = pivotOf(numbers, left, right)
      var i = left
      var j = right
      while (i <= j) {
        while (numbers(i) < pivot) i += 1
        while (numbers(j) > pivot) j -= 1
        if (i <= j) {
          val swapped = numbers(i)
          numbers(i) = numbers(j)
          numbers(j) = swapped
          i += 1
          j -= 1
        }
      }
      if (place <= j) right = j
      else if (place >= i) left = i
      else { // between both parts all are the pivot
        left = place
        right = place
      }
    }
    if (right > left) Arrays.sort(numbers, left, right + 1)
  }

  /** The median of three medians of three. */
  private def pivotOf(numbers: Array[Long], left: Int, right: Int): Long = {
    val step = (right - left) / 8
    def third(at: Int): Long = median(numbers(at), numbers(at + step), numbers(at + 2 * step))
    median(third(left), third(left + 3 * step), third(left + 6 * step))
  }

  private def median(a: Long, b: Long, c: Long): Long =
    math.max(math.min(a, b), math.min(math.max(a, b), c))
}
