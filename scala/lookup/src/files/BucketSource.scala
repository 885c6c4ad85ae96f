package io.firesteel.lookup.files

import io.firesteel.lookup.LookupContext
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.firesteel.Files
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.StructType

/**
 * Identity of loaded buckets, apart from number and files. Lookups with equal ones can share them.
 *
 * @param columns columns of a row
 * @param keys columns by which rows are found
 * @param filters conditions by which the reader may skip rows
 * @param settings the session's settings and options that change the reader's rows
 */
private[files] final case class BucketOrigin(
    application: String,
    folder: String,
    columns: StructType,
    keys: StructType,
    filters: Seq[Filter],
    settings: Map[String, String])

/** A loaded bucket's identity. With a new or replaced file it is another bucket. */
private[files] final case class BucketId(
    origin: BucketOrigin,
    bucket: Int,
    files: Seq[BucketFile])

/**
 * All that a task needs to load buckets, made on the driver at planning.
 *
 * @param reader Spark's own
 * @param files the files of each bucket
 */
private[files] final class BucketSource(
    val layout: BucketLayout,
    val origin: BucketOrigin,
    val reader: PartitionedFile => Iterator[InternalRow],
    val skipCorrupt: Boolean,
    val skipMissing: Boolean,
    val files: IndexedSeq[Seq[BucketFile]],
    val idleMillis: Long,
    val counts: LoadCounts)
  extends Serializable {

  def id(bucket: Int): BucketId = BucketId(origin, bucket, files(bucket))
}

private[files] object BucketSource {

  /** Settings with one of these prefixes can change the rows that the reader returns. */
  private val readerSettings = Seq(
    "spark.sql.parquet.",
    "spark.sql.files.",
    "spark.sql.legacy.",
    "spark.sql.session.timeZone",
    "spark.sql.caseSensitive")

  def of(
      session: SparkSession,
      layout: BucketLayout,
      options: FilesOptions,
      context: LookupContext): BucketSource = {
    val columns = Files.asNullable(context.columns)
    val filters = PushedFilters.of(context.filters.toSeq, layout.schema)
    val settings = session.conf.getAll.filter { case (key, _) =>
      readerSettings.exists(key.startsWith)
    }
    val ignoring = Files.fileSourceOptions(options.reader)
    new BucketSource(
      layout,
      BucketOrigin(
        session.sparkContext.applicationId,
        layout.folder,
        columns,
        Files.asNullable(context.keys),
        filters,
        settings ++ options.reader.filterNot { case (name, _) =>
          name.startsWith(FilesOptions.fileSystem)
        }
      ),
      Files.parquetReader(session, layout.schema, columns, filters, options.reader),
      ignoring.ignoreCorruptFiles,
      ignoring.ignoreMissingFiles,
      BucketFiles.of(layout, Files.hadoopConf(session, options.reader)),
      options.idleMillis,
      LoadCounts.of(session.sparkContext)
    )
  }
}
