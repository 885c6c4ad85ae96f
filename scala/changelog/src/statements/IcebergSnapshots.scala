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

  /** Whether the table has the rows of this micro-batch or of a later one. */
  def isWritten(session: SparkSession): Boolean = {
    val snapshots = if (table.contains("/")) s"$table#snapshots" else s"$table.snapshots"
    val summary = col("summary")
    !session.read.format("iceberg").load(snapshots).where(
      summary(ownerKey) === owner && summary(batchKey).cast("long") >= batch).isEmpty
  }
}

private[statements] object IcebergSnapshots {
  private val (ownerKey, batchKey) = ("firesteel.statement", "firesteel.batch")
}
