package io.firesteel.bench

import org.apache.spark.sql.SparkSession

/**
 * Another query, timed with the case.
 *
 * @param sameAnswer columns in which its answer equals the case's; none if it is another query
 * @param firesteel whether it runs with firesteel
 * @param settings override the case's
 */
final case class Reference(
    name: String,
    sql: String,
    sameAnswer: Seq[String] = Nil,
    firesteel: Boolean = false,
    settings: Map[String, String] = Map.empty)

/**
 * One timed query.
 *
 * @param name its name on the command line
 * @param compared the columns that must be equal, as bags of rows, with and without firesteel
 * @param settings for both sides, added to those of the session
 * @param checked the query whose answer is compared, if it is not `sql` itself: it sorts values
 *   that may have any order
 * @param prepare creates what the query calls
 * @param note a fact that the page's reader needs, such as how stock is tuned
 * @param sizeOverSlide for the picture of the cost of sliding windows
 * @param repeat a multiple of the usual rounds, for short queries
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

/** The cases of one room, and its memory case if it has one. */
trait Room {
  def name: String

  /** @param rows rows of the tables, unless the case is about a size */
  def cases(rows: Long): Seq[Case]

  def memory: Option[MemoryCase]
}
