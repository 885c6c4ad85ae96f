package io.firesteel.bench

import scala.collection.mutable

import org.apache.spark.sql.Row

/** The rows of two bags that have no equal row on the other side. */
final case class BagDifference(onlyLeft: Seq[Row], onlyRight: Seq[Row]) {

  def isEmpty: Boolean = onlyLeft.isEmpty && onlyRight.isEmpty

  /** A few rows of each side, for a message. */
  def describe(left: String, right: String): String =
    Seq(left -> onlyLeft, right -> onlyRight)
      .collect { case (name, rows) if rows.nonEmpty => s"$name alone, ${rows.size}: ${few(rows)}" }
      .mkString("; ")

  private def few(rows: Seq[Row]): String = rows.take(3).mkString(" ")
}

/**
 * Compares bags of rows that fit into memory.
 *
 * Floats are equal within 1e-12 of the larger, because a sum depends on the order of its rows. All
 * other values, decimals too, must be exactly equal.
 */
object RowBags {

  private val tolerance = 1e-12

  def difference(left: Seq[Row], right: Seq[Row]): BagDifference = {
    val waiting = mutable.Map.empty[Seq[Any], mutable.Buffer[Row]]
    right.foreach(row => waiting.getOrElseUpdate(exactPart(row), mutable.Buffer.empty) += row)
    val onlyLeft = left.filterNot { row =>
      waiting.get(exactPart(row)).exists { candidates =>
        val equal = candidates.indexWhere(same(row, _))
        if (equal >= 0) candidates.remove(equal)
        equal >= 0
      }
    }
    BagDifference(onlyLeft, waiting.values.flatten.toSeq)
  }

  /** Whether two rows are equal, floats within the tolerance. */
  def same(one: Row, other: Row): Boolean =
    one.size == other.size && (0 until one.size).forall { i =>
      (one.get(i), other.get(i)) match {
        case (a: Double, b: Double) => near(a, b)
        case (a: Float, b: Float) => near(a.toDouble, b.toDouble)
        case (a, b) => a == b
      }
    }

  private def near(a: Double, b: Double): Boolean =
    a == b || (a.isNaN && b.isNaN) ||
      (!(a - b).isInfinite && math.abs(a - b) <= tolerance * math.max(math.abs(a), math.abs(b)))

  /** Rows that differ in this part are different. The floats are compared afterwards. */
  private def exactPart(row: Row): Seq[Any] = row.toSeq.map {
    case _: Double | _: Float => "a float"
    case exact => exact
  }
}
