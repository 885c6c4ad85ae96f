package io.firesteel.lookup.files

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.firesteel.Files
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

/**
 * The folder of bucketed files, and how they were written.
 *
 * @param buckets number of buckets
 * @param bucketColumns in the order in which they are hashed, which may differ from the schema
 */
private[files] final case class BucketLayout(
    folder: String,
    schema: StructType,
    buckets: Int,
    bucketColumns: Seq[String])

private[files] object BucketLayout {

  /** From the options, or from the catalog's table that they name. */
  def of(
      session: SparkSession,
      options: FilesOptions,
      schema: Option[StructType]): BucketLayout = {
    val layout = options.table match {
      case Some(name) => ofTable(Files.catalogTable(session, name), name)
      case None => ofFolder(session, options, schema)
    }
    // As in Spark's own file sources, any column of a file may have nulls, whatever was declared.
    layout.copy(schema = Files.asNullable(schema.getOrElse(layout.schema)))
  }

  private def ofTable(table: CatalogTable, name: String): BucketLayout = {
    def unsupported(reason: String) = FilesErrors.unsupportedTable(name, reason)
    if (table.tableType == CatalogTableType.VIEW) throw unsupported("is a view")
    if (!table.provider.exists(_.equalsIgnoreCase("parquet"))) {
      throw unsupported(s"is stored as ${table.provider.getOrElse("an unknown format")}")
    }
    if (table.partitionColumnNames.nonEmpty) {
      throw unsupported(s"is partitioned by ${table.partitionColumnNames.mkString(", ")}")
    }
    val spec = table.bucketSpec.getOrElse(throw unsupported("has no buckets"))
    BucketLayout(
      new Path(table.location).toString,
      table.schema,
      spec.numBuckets,
      spec.bucketColumnNames)
  }

  private def ofFolder(
      session: SparkSession,
      options: FilesOptions,
      declared: Option[StructType]): BucketLayout = {
    val conf = Files.hadoopConf(session, options.reader)
    val asked = new Path(options.path.get)
    val folder = asked.getFileSystem(conf).makeQualified(asked).toString
    val schema = declared.getOrElse {
      val files = BucketFiles.list(folder, conf)
      Files
        .parquetSchema(session, options.reader, files)
        .getOrElse(throw FilesErrors.noSchema(folder))
    }
    BucketLayout(folder, schema, options.buckets.get, options.bucketBy.map(columnOf(schema, _)))
  }

  /** The column's name as the schema writes it. */
  private def columnOf(schema: StructType, name: String): String =
    schema.fieldNames
      .find(SQLConf.get.resolver(_, name))
      .getOrElse {
        val expected = s"columns of the files: ${schema.fieldNames.mkString(", ")}"
        throw FilesErrors.invalidOption(FilesOptions.bucketBy, name, expected)
      }
}
