package io.firesteel.json.files

import io.firesteel.json.JsonCounts

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.hadoop.mapreduce.Job

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.json.{JSONOptions, JSONOptionsInRead}
import org.apache.spark.sql.execution.datasources.{FileFormat, OutputWriterFactory, PartitionedFile}
import org.apache.spark.sql.execution.datasources.json.JsonDataSource
import org.apache.spark.sql.firesteel.confOf
import org.apache.spark.sql.sources.{DataSourceRegister, Filter}
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.util.SerializableConfiguration

/**
 * Spark's format of JSON files with [[DocumentParser]] for the lines. Only a physical scan has it:
 * tables, schemas and writers keep Spark's.
 *
 * It is no subclass, because Spark's format equals each of its subclasses, and rules keep a node that
 * equals the new one.
 *
 * @param spark Spark's format
 */
final private[files] class PlainJsonFormat(spark: FileFormat, counts: JsonCounts)
  extends FileFormat
  with DataSourceRegister {
  import PlainJsonFormat._

  /** In plans the scan has Spark's name. */
  override def shortName(): String = "json"

  override def inferSchema(
      session: SparkSession,
      options: Map[String, String],
      files: Seq[FileStatus]): Option[StructType] = spark.inferSchema(session, options, files)

  override def prepareWrite(
      session: SparkSession,
      job: Job,
      options: Map[String, String],
      dataSchema: StructType): OutputWriterFactory =
    spark.prepareWrite(session, job, options, dataSchema)

  override def isSplitable(
      session: SparkSession,
      options: Map[String, String],
      path: Path): Boolean = spark.isSplitable(session, options, path)

  override def supportDataType(dataType: DataType): Boolean = spark.supportDataType(dataType)

  override def buildReader(
      session: SparkSession,
      dataSchema: StructType,
      partitionSchema: StructType,
      requiredSchema: StructType,
      filters: Seq[Filter],
      options: Map[String, String],
      hadoopConf: Configuration): PartitionedFile => Iterator[InternalRow] = {
    val configuration =
      session.sparkContext.broadcast(new SerializableConfiguration(hadoopConf))
    val read = optionsOf(options, session)
    // A serialized function takes no field of this format.
    val ownCounts = counts
    val columns = StructType(requiredSchema.filterNot(_.name == read.columnNameOfCorruptRecord))
    file => {
      val parser = new DocumentParser(columns, read, filters, ownCounts)
      JsonDataSource(read).readFile(configuration.value.value, file, parser, requiredSchema)
    }
  }

  /** Without columns of partitions, Spark would project each row once more for nothing. */
  override def buildReaderWithPartitionValues(
      session: SparkSession,
      dataSchema: StructType,
      partitionSchema: StructType,
      requiredSchema: StructType,
      filters: Seq[Filter],
      options: Map[String, String],
      hadoopConf: Configuration): PartitionedFile => Iterator[InternalRow] = {
    if (partitionSchema.isEmpty) {
      unsafe(
        requiredSchema,
        buildReader(
          session,
          dataSchema,
          partitionSchema,
          requiredSchema,
          filters,
          options,
          hadoopConf))
    } else {
      super.buildReaderWithPartitionValues(
        session,
        dataSchema,
        partitionSchema,
        requiredSchema,
        filters,
        options,
        hadoopConf)
    }
  }

  override def toString: String = s"$spark by firesteel"

  override def equals(other: Any): Boolean = other.isInstanceOf[PlainJsonFormat]

  override def hashCode(): Int = classOf[PlainJsonFormat].hashCode
}

private[files] object PlainJsonFormat {

  /** The options as Spark's format reads them: with the settings of the session that has the files. */
  def optionsOf(options: Map[String, String], session: SparkSession): JSONOptions =
    new JSONOptionsInRead(
      options,
      confOf(session).sessionLocalTimeZone,
      confOf(session).columnNameOfCorruptRecord)

  /** Rows of this room's readers are in Spark's form already. */
  private def unsafe(
      schema: StructType,
      read: PartitionedFile => Iterator[InternalRow]): PartitionedFile => Iterator[InternalRow] =
    file => {
      // A file of plain lines needs none, and there are many small files.
      lazy val project = UnsafeProjection.create(schema)
      read(file).map {
        case row: UnsafeRow => row
        case row => project(row)
      }
    }
}
