package io.firesteel.lookup

import scala.annotation.unused
import java.util.Optional
import org.apache.spark.sql.connector.catalog.Table

/**
 * A table of an outside store whose rows can be read by key.
 *
 * Mix it into a DataSource V2 `Table`. The table may be scannable as well (`SupportsRead`); it need
 * not be. Add [[SupportsLookupCustomShuffle]] to decide which task looks up which key.
 *
 * The planner asks in this order: `lookupKeys`, the partitioner if there is one, and last
 * `newLookup`, when it is decided whether the partitioner is used.
 *
 * Flink: `LookupTableSource`.
 */
trait SupportsLookup extends Table {

  /**
   * Chooses the columns to look up by.
   *
   * @param candidates names of the columns for which the join gives a value (`o.id = c.id`) or the
   *   query a constant (`c.type = 'x'`), in the order of the table's columns
   * @return those that the store can be asked by; none when it cannot be asked by these. Columns
   *   left out are compared after the lookup.
   */
  def lookupKeys(candidates: Array[String]): Array[String] = candidates

  /**
   * Says why the store cannot be asked by a column that [[lookupKeys]] left out, and what to do, for
   * the error of a join that has no other key: the end of the sentence "it cannot be looked up by
   * `column`, since ...".
   */
  def whyNoKey(@unused column: String): Optional[String] = Optional.empty()

  /** Makes the function that every task of one query opens; it is serialised to the tasks. */
  def newLookup(context: LookupContext): LookupFunction
}
