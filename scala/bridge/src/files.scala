package org.apache.spark.sql.firesteel

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.deploy.SparkHadoopUtil
import org.apache.spark.memory.{MemoryManager, MemoryMode}
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.{FileSourceOptions, InternalRow}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.execution.datasources.{DataSource, FileFormat, PartitionedFile}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.v2.FileDataSourceV2
import org.apache.spark.sql.execution.datasources.v2.parquet.ParquetTable
import org.apache.spark.sql.internal.SessionState
import org.apache.spark.sql.internal.connector.PredicateUtils
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.{AtomicType, DataType, DatetimeType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.storage.CacheId

/** Access to Spark's catalog, Parquet reader and memory. */
object Files {

  /** The catalog's entry of a table or view, by its SQL name. */
  def catalogTable(session: SparkSession, name: String): CatalogTable = {
    val state = stateOf(session)
    state.catalog.getTableMetadata(state.sqlParser.parseTableIdentifier(name))
  }

  def hadoopConf(session: SparkSession, options: Map[String, String]): Configuration =
    stateOf(session).newHadoopConfWithOptions(options)

  /** The schema in the footers of Parquet files; none if there are no files. */
  def parquetSchema(
      session: SparkSession,
      options: Map[String, String],
      files: Seq[FileStatus]): Option[StructType] =
    new ParquetFileFormat().inferSchema(session, options, files)

  /** A scan of a folder of Parquet files; its name is literal, without patterns. */
  def parquetScan(
      session: SparkSession,
      folder: String,
      schema: StructType,
      options: Map[String, String]): ScanBuilder = {
    val all = new java.util.HashMap[String, String]
    options.foreach { case (name, value) => all.put(name, value) }
    all.put(DataSource.GLOB_PATHS_KEY, "false")
    val noOptions = CaseInsensitiveStringMap.empty
    ParquetTable(
      s"parquet $folder",
      session,
      new CaseInsensitiveStringMap(all),
      Seq(folder),
      Some(schema),
      classOf[ParquetFileFormat]).newScanBuilder(noOptions)
  }

  /**
   * Spark's Parquet reader, row by row; serialisable, with a broadcast of Hadoop's configuration.
   */
  def parquetReader(
      session: SparkSession,
      schema: StructType,
      columns: StructType,
      filters: Seq[Filter],
      options: Map[String, String]): PartitionedFile => Iterator[InternalRow] =
    new ParquetFileFormat().buildReaderWithPartitionValues(
      session,
      dataSchema = schema,
      partitionSchema = new StructType,
      requiredSchema = columns,
      filters = filters,
      options = options + (FileFormat.OPTION_RETURNING_BATCH -> "false"),
      hadoopConf = hadoopConf(session, options)
    )

  /** How to handle missing and corrupt files, by options and settings. */
  def fileSourceOptions(options: Map[String, String]): FileSourceOptions =
    new FileSourceOptions(options)

  /** Whether `spark.sql.files.ignoreCorruptFiles` covers a reader's exception. */
  def isCorruptFile(thrown: Throwable): Boolean =
    org.apache.spark.sql.firesteel.isCorruptFile(thrown)

  /** A reader's exception as Spark's scans report it, with the file's name. */
  def readError(file: String, thrown: Throwable): Throwable =
    FileDataSourceV2.attachFilePath(file, thrown)

  /**
   * A condition as Spark's older sources receive it. Spark's conversion of OR keeps one side if it
   * supports only that one, which changes the meaning: do not pass an OR.
   */
  def sourceFilter(predicate: Predicate): Option[Filter] = PredicateUtils.toV1(predicate)

  /** The schema with all columns, fields and elements nullable. */
  def asNullable(schema: StructType): StructType = schema.asNullable

  def isAtomic(dataType: DataType): Boolean = dataType.isInstanceOf[AtomicType]

  /** Whether this is a date, time or timestamp type. */
  def isDatetime(dataType: DataType): Boolean = dataType.isInstanceOf[DatetimeType]

  /** Counts the bytes that this thread reads from file systems from now on. */
  def bytesReadFromNow(): () => Long = SparkHadoopUtil.get.getFSBytesReadOnThreadCallback()

  /** Adds to a task's input metrics; call it on the task's own thread. */
  def countInput(task: TaskContext, bytes: Long, rows: Long): Unit = {
    task.taskMetrics().inputMetrics.incBytesRead(bytes)
    task.taskMetrics().inputMetrics.incRecordsRead(rows)
  }

  def killTaskIfInterrupted(task: TaskContext): Unit = task.killTaskIfInterrupted()

  /** The storage memory of this executor process. */
  def storage(): StoragePool = new StoragePool(SparkEnv.get.memoryManager)

  private def stateOf(session: SparkSession): SessionState =
    session.asInstanceOf[classic.SparkSession].sessionState
}

/** On-heap storage memory, which cached tables and broadcasts use, too. */
final class StoragePool private[firesteel] (manager: MemoryManager) {

  /** Reserves memory, all of it or none; Spark may drop cached blocks for it. */
  def acquire(owner: String, bytes: Long): Boolean =
    manager.acquireStorageMemory(CacheId("firesteel", owner), bytes, MemoryMode.ON_HEAP)

  /** Free bytes: the part of storage memory that cached blocks and execution do not use. */
  def freeBytes: Long = manager.maxOnHeapStorageMemory - manager.storageMemoryUsed

  def release(bytes: Long): Unit = manager.releaseStorageMemory(bytes, MemoryMode.ON_HEAP)
}
