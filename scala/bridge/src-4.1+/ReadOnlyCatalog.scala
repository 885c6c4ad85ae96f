package org.apache.spark.sql.firesteel

import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCatalog, TableInfo}

/** A catalog whose tables are made elsewhere. */
trait ReadOnlyCatalog extends TableCatalog {
  override def createTable(ident: Identifier, info: TableInfo): Table =
    throw new UnsupportedOperationException("read only")
}
