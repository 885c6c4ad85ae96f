package io.firesteel.changelog.statements

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.col

/**
 * The snapshots of an Iceberg table that a statement wrote: each has the number of its micro-batch
 * among its properties, as those of Iceberg's own streaming writer have.
 *
 * @param owner the statement and its query
 */
final private[statements] class IcebergSnapshots(table: String, owner: String, batch: Long) {
  import IcebergSnapshots._

  /** Options of Iceberg's writer. */
  def options: Map[String, String] =
    Map(ownerKey -> owner, batchKey -> batch.toString).map { case (key, value) =>
      s"snapshot-property.$key" -> value
    }

  /**
   * Whether the table has the rows of this micro-batch or of a later one. A snapshot that was the
   * current one, and is no ancestor of the one that is now, has been rolled back.
   */
  def isWritten(session: SparkSession): Boolean = {
    def read(name: String) = {
      val separator = if (table.contains("/")) "#" else "."
      session.read.format("iceberg").load(s"$table$separator$name")
    }
    val summary = col("summary")
    val written = read("snapshots")
      .where(summary(ownerKey) === owner && summary(batchKey).cast("long") >= batch)
    val rolledBack = read("history").where(!col("is_current_ancestor"))
    !written.join(rolledBack, Seq("snapshot_id"), "left_anti").isEmpty
  }
}

private[statements] object IcebergSnapshots {
  private val (ownerKey, batchKey) = ("firesteel.statement", "firesteel.batch")
}
