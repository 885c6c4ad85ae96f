package io.firesteel.core.changes

import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

/**
 * Properties of a changelog, in the metadata of its row kind column. A sink learns from them
 * whether its own keys identify the rows (Flink: the primary key of a sink takes part in the
 * decision about `-U`).
 *
 * @param keys upsert keys: columns that identify a row and whose changes arrive in order
 * @param updateBefore whether each `+U` comes with its `-U`
 * @param filtered whether a filter may have dropped one of the two, and a row that it passed before
 */
final private[firesteel] case class ChangelogMetadata(
    keys: Seq[Seq[String]],
    updateBefore: Boolean,
    filtered: Boolean = false) {

  def metadata: Metadata = {
    val of = new MetadataBuilder().putBoolean("updateBefore", updateBefore)
    if (filtered) of.putBoolean("filtered", true)
    keys.zipWithIndex.foreach { case (key, i) => of.putStringArray(s"key$i", key.toArray) }
    new MetadataBuilder().putMetadata(ChangelogMetadata.name, of.build()).build()
  }
}

private[firesteel] object ChangelogMetadata {

  private val name = "firesteel.changelog"

  /** The properties in a column's metadata; none unless it is an unchanged row kind column. */
  def of(column: Metadata): Option[ChangelogMetadata] =
    if (!column.contains(name)) None
    else {
      val said = column.getMetadata(name)
      val keys = Iterator.from(0).map(i => s"key$i").takeWhile(said.contains)
      Some(ChangelogMetadata(
        keys.map(said.getStringArray(_).toSeq).toSeq,
        said.getBoolean("updateBefore"),
        said.contains("filtered")))
    }
}
