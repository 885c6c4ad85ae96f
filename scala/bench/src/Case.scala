package io.firesteel.bench

/** A query of another shape with the same answer in `sameAnswer`, timed beside the case. */
final case class Reference(name: String, sql: String, sameAnswer: Seq[String])

/**
 * One question to the clock.
 *
 * @param name for the command line
 * @param compared the columns that must be equal, as bags of rows, with and without firesteel
 * @param settings for both sides, beside those of the session
 * @param repeat how many times more rounds than usual, for queries too short for few to tell
 */
final case class Case(
    name: String,
    title: String,
    table: Table,
    sql: String,
    compared: Seq[String],
    targets: Seq[Target],
    references: Seq[Reference] = Nil,
    settings: Map[String, String] = Map.empty,
    repeat: Int = 1)

/** The cases of one room, and its question of memory if it has one. */
trait Room {
  def name: String

  /** @param rows of the tables whose size is not the point of the case */
  def cases(rows: Long): Seq[Case]

  def memory: Option[MemoryCase]
}
