package org.apache.spark.sql.firesteel

import org.apache.spark.sql.connector.catalog.{Column, Identifier, Table, TableCatalog}
import org.apache.spark.sql.connector.expressions.Transform

/** A catalog whose tables are made elsewhere. */
trait ReadOnlyCatalog extends TableCatalog {
  override def createTable(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: java.util.Map[String, String]): Table =
    throw new UnsupportedOperationException("read only")
}
