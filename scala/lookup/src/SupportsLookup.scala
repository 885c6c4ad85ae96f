package io.firesteel.lookup

import scala.annotation.unused
import java.util.Optional
import org.apache.spark.sql.connector.catalog.Table

/**
 * A table of an outside store whose rows can be read by key.
 *
 * Mix it into a DataSource V2 `Table`. The table may also be scannable (`SupportsRead`). Add
 * [[SupportsLookupCustomShuffle]] to decide which task looks up which key.
 *
 * The planner calls `lookupKeys` first, then the partitioner's methods, and `newLookup` last, when
 * it is decided whether the partitioner is applied.
 *
 * Flink: `LookupTableSource`.
 */
trait SupportsLookup extends Table {

  /**
   * Chooses the columns to look up by.
   *
   * @param candidates names of the columns for which the join has a value (`o.id = c.id`) or the
   *   query a constant (`c.type = 'x'`), in the order of the table's columns
   * @return those by which the store can be asked; none if it cannot be asked by these. The other
   *   columns are compared after the lookup.
   */
  def lookupKeys(candidates: Array[String]): Array[String] = candidates

  /**
   * The reason why the store cannot be asked by a column that [[lookupKeys]] left out, and what to
   * do. The error for a join without another key shows it after the column's name, as in
   * "price: it has decimals, which Spark cuts."
   */
  def whyNoKey(@unused column: String): Optional[String] = Optional.empty()

  /** Makes the function that every task of one query opens. It is serialized to the tasks. */
  def newLookup(context: LookupContext): LookupFunction
}
