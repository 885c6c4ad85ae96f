package io.firesteel.changelog.checkpoint

import java.io.{InputStream, OutputStream}
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.firesteel.streaming.HDFSMetadataLog

/**
 * A log of a checkpoint, with its entries as text.
 *
 * Spark's classes for an entry differ from version to version. Little of the text is changed here,
 * and the rest stays as it is.
 */
final private[checkpoint] class TextLog(session: SparkSession, path: String)
  extends HDFSMetadataLog[String](session, path) {

  override def serialize(entry: String, out: OutputStream): Unit =
    out.write(entry.getBytes(UTF_8))

  override def deserialize(in: InputStream): String = new String(in.readAllBytes(), UTF_8)

  def last: Option[Long] = getLatestBatchId()
}
