package io.firesteel.lookup.files

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{Table, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * The data source `firesteel-files`: Parquet files in buckets, read bucket by bucket as keys ask.
 *
 * {{{
 * spark.read.format("firesteel-files").option("table", "customers").load()
 * spark.read.format("firesteel-files").option("buckets", 16).option("bucket-by", "id").load(folder)
 * }}}
 *
 * Options:
 *  - `table`: name of a table of Spark's catalog, which gives all the rest; or
 * - `path`, `buckets`, `bucket-by`: the folder, the number of buckets, and the columns in the order
 * in which the files were written. A `path` next to `table` is ignored, because Spark's catalog
 * adds one.
 *  - `idle-time`: how long an executor keeps a bucket that no task uses, by default `10min`
 *  - `mergeSchema`, `datetimeRebaseMode`, `int96RebaseMode`, `ignoreCorruptFiles` and
 *    `ignoreMissingFiles`, as in Spark's Parquet source; `fs.*` as in Hadoop
 */
class FilesSource extends TableProvider with DataSourceRegister {

  override def shortName(): String = "firesteel-files"

  override def supportsExternalMetadata(): Boolean = true

  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    BucketLayout.of(SparkSession.active, FilesOptions.of(options), None).schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: java.util.Map[String, String]): Table = {
    val options = FilesOptions.of(properties)
    FilesTable(BucketLayout.of(SparkSession.active, options, Some(schema)), options)
  }
}
