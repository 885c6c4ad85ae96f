package io.firesteel.lookup.testing

import io.firesteel.lookup.SupportsLookup

import scala.annotation.varargs

import org.apache.spark.sql.{Row, SparkSession}

/**
 * Checks a connector against the rows that its store holds. Run it in a test of the connector; an
 * `AssertionError` names what is wrong.
 *
 * {{{
 * ConnectorCheck.of(new ScalaCountries(path))
 *   .rows(Row("ch", "Switzerland", "Europe"), Row("is", "Iceland", "Europe"))
 *   .missing(Row("xx"))
 *   .check()
 * }}}
 *
 * It is immutable: each method returns a new check.
 */
final class ConnectorCheck private (
    table: SupportsLookup,
    rows: Seq[Row],
    missing: Seq[Row]) {

  /**
   * Adds rows that the store holds, all columns in the order of the table. For each key that
   * occurs, give all rows with that key. Give several rows for one key and a null where the store
   * allows it.
   */
  @varargs
  def rows(more: Row*): ConnectorCheck = new ConnectorCheck(table, rows ++ more, missing)

  /**
   * Adds keys that have no row, with all key columns in the order of the table. Without any, a
   * number or a text that no row has is used.
   */
  @varargs
  def missing(keys: Row*): ConnectorCheck = new ConnectorCheck(table, rows, missing ++ keys)

  /**
   * Calls the connector as tasks call it, without Spark.
   *
   * It checks `lookupKeys`, serialization, hits, misses, several rows of a key, nulls, types, calls
   * of one and of many keys, projections, filters, functions that are open at the same time,
   * `close`, threads that `close` leaves behind, and the partitioner: its range, that equal keys
   * have equal numbers, and that each shard answers its keys.
   */
  def check(): Unit = {
    val store = stored()
    FunctionCheck(table, store).run()
    PartitionerCheck(table, store).run()
  }

  /**
   * Runs lookup joins in a session with the extension, and compares them with plain joins: inner
   * and left joins, with and without shuffle and cache, keys that are null, missing or repeated,
   * and a condition on the dimension.
   *
   * @param name the connector's table as queries name it, such as `atlas.countries`
   */
  def checkThrough(spark: SparkSession, name: String): Unit =
    new SparkCheck(table.name, stored(), rows).run(spark, name)

  private def stored(): CheckedStore = CheckedStore.of(table, rows, missing)
}

object ConnectorCheck {

  /** A check of this table, so far without rows. */
  def of(table: SupportsLookup): ConnectorCheck = new ConnectorCheck(table, Nil, Nil)
}
