package io.firesteel.changelog.plan

/**
 * The places in an order that a query asks for, from 1.
 *
 * @param shown whether the result tells the place of each row
 */
final private[changelog] case class Places(
    function: PlaceFunction,
    from: Long,
    to: Long,
    shown: Boolean) {

  /** Whether a place has one row at most and shows, so that its row is replaced, not added. */
  def byPlace: Boolean = function == PlaceFunction.RowNumber && (shown || from == to)

  /** Whether a partition has one row at most in the result, and needs no other to know it. */
  def isFirst: Boolean = function == PlaceFunction.RowNumber && from == 1 && to == 1

  override def toString: String = s"${function.name} from $from to $to"
}
