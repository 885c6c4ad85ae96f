package io.firesteel.changelog.statements

import org.apache.spark.sql.SparkSession

/**
 * Where a session finds tables by names without a catalog and a database. The session that Spark
 * clones for a streaming query begins with the default catalog.
 */
final private[statements] class CurrentCatalog(session: SparkSession) {
  private val (catalog, database) =
    (session.catalog.currentCatalog(), session.catalog.currentDatabase)

  /** Lets another session find them there. */
  def use(other: SparkSession): Unit = {
    if (other.catalog.currentCatalog() != catalog) other.catalog.setCurrentCatalog(catalog)
    if (database.nonEmpty && other.catalog.currentDatabase != database) {
      other.catalog.setCurrentDatabase(database)
    }
  }
}
