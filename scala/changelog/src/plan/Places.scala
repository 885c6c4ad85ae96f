package io.firesteel.changelog.plan

/**
 * The places of an order that a query selects, counted from 1.
 *
 * @param shown whether the result has a column with the place
 */
final private[changelog] case class Places(
    function: PlaceFunction,
    from: Long,
    to: Long,
    shown: Boolean) {

  /**
   * Whether a place holds at most one row and the result shows it. A new row then updates the old
   * one.
   */
  def byPlace: Boolean = function == PlaceFunction.RowNumber && (shown || from == to)

  /** Whether the result is the first rows, without places: which of them has which is no matter. */
  def areOfRows: Boolean = function == PlaceFunction.RowNumber && from == 1 && !byPlace

  /** Whether the result has at most one row per partition, found without any other row. */
  def isFirst: Boolean = function == PlaceFunction.RowNumber && from == 1 && to == 1

  def isBounded: Boolean = to < Places.noLast

  override def toString: String =
    s"${function.name} from $from${if (isBounded) s" to $to" else ""}"
}

private[changelog] object Places {

  /** The last place of a query that asks for all of them. */
  val noLast: Long = Int.MaxValue.toLong
}
