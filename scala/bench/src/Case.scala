package io.firesteel.bench

import org.apache.spark.sql.SparkSession

/**
 * Another query, timed beside the case.
 *
 * @param sameAnswer columns in which its answer is the case's own; none for another question
 * @param firesteel whether it is asked with firesteel
 * @param settings instead of the case's, where both name one
 */
final case class Reference(
    name: String,
    sql: String,
    sameAnswer: Seq[String] = Nil,
    firesteel: Boolean = false,
    settings: Map[String, String] = Map.empty)

/**
 * One question to the clock.
 *
 * @param name for the command line
 * @param compared the columns that must be equal, as bags of rows, with and without firesteel
 * @param settings for both sides, beside those of the session
 * @param checked the query whose answer is compared, when it is not `sql` itself: one that puts in order
 *   what may come in any
 * @param prepare makes what the query calls
 * @param note what the reader of the page must know, such as how stock is tuned
 * @param sizeOverSlide for the picture of the cost of sliding windows
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
    repeat: Int = 1,
    checked: Option[String] = None,
    prepare: SparkSession => Unit = _ => (),
    note: String = "",
    sizeOverSlide: Option[Int] = None)

/** The cases of one room, and its question of memory if it has one. */
trait Room {
  def name: String

  /** @param rows of the tables whose size is not the point of the case */
  def cases(rows: Long): Seq[Case]

  def memory: Option[MemoryCase]
}
