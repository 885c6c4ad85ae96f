package io.firesteel.core.changes

import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

/**
 * What the column of kinds says of its changelog, in the column's metadata. A table to which the
 * changes are applied learns from it whether its own keys identify the rows (Flink: a sink's primary
 * key takes part in the update-before decision).
 *
 * @param keys upsert keys: columns that identify a row, whose changes arrive in order
 * @param updateBefore whether each update comes with the row that it replaces
 */
final private[firesteel] case class ChangelogMetadata(
    keys: Seq[Seq[String]],
    updateBefore: Boolean) {

  def metadata: Metadata = {
    val of = new MetadataBuilder().putBoolean("updateBefore", updateBefore)
    keys.zipWithIndex.foreach { case (key, i) => of.putStringArray(s"key$i", key.toArray) }
    new MetadataBuilder().putMetadata(ChangelogMetadata.name, of.build()).build()
  }
}

private[firesteel] object ChangelogMetadata {

  private val name = "firesteel.changelog"

  /** What a column says; none unless it is a changelog's column of kinds, passed on unchanged. */
  def of(column: Metadata): Option[ChangelogMetadata] =
    if (!column.contains(name)) None
    else {
      val said = column.getMetadata(name)
      val keys = Iterator.from(0).map(i => s"key$i").takeWhile(said.contains)
      Some(ChangelogMetadata(
        keys.map(said.getStringArray(_).toSeq).toSeq,
        said.getBoolean("updateBefore")))
    }
}
