package io.firesteel.core.changes

/**
 * The row kind of a changelog's row: insert, update or deletion. In the internal plan it is a
 * column of one byte. Numbers and names are Flink's (`RowKind`); odd numbers are retractions.
 */
object RowKind {

  val Insert: Byte = 0
  val UpdateBefore: Byte = 1
  val UpdateAfter: Byte = 2
  val Delete: Byte = 3

  /** Names by number, as users see them. */
  val names: Seq[String] = Seq("+I", "-U", "+U", "-D")

  /** Whether a row of this kind retracts an earlier row. */
  def isRetraction(kind: Byte): Boolean = (kind & 1) == 1
}
