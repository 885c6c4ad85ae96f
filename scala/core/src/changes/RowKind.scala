package io.firesteel.core.changes

/**
 * What a row of a changelog says: a row came, changed or went. One byte in a column of the internal
 * plan; numbers and names are Flink's (`RowKind`), and odd numbers take a row back.
 */
object RowKind {

  val Insert: Byte = 0
  val UpdateBefore: Byte = 1
  val UpdateAfter: Byte = 2
  val Delete: Byte = 3

  /** Names by number, as users see them. */
  val names: Seq[String] = Seq("+I", "-U", "+U", "-D")

  /** Whether a row of this kind takes back a row that came before. */
  def isRetraction(kind: Byte): Boolean = (kind & 1) == 1
}
