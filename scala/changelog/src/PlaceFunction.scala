package io.firesteel.changelog

/** What numbers the rows of a partition. */
sealed abstract class PlaceFunction(val name: String) extends Product with Serializable

object PlaceFunction {
  case object RowNumber extends PlaceFunction("ROW_NUMBER")
  case object Rank extends PlaceFunction("RANK")
  case object DenseRank extends PlaceFunction("DENSE_RANK")
}
