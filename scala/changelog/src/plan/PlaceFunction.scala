package io.firesteel.changelog.plan

/** The function that numbers the rows of a partition. */
private[changelog] sealed abstract class PlaceFunction(val name: String) extends Product
  with Serializable

private[changelog] object PlaceFunction {
  case object RowNumber extends PlaceFunction("ROW_NUMBER")
  case object Rank extends PlaceFunction("RANK")
  case object DenseRank extends PlaceFunction("DENSE_RANK")
}
