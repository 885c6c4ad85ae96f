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
import org.apache.spark.sql.execution.datasources.{DataSource, DataSourceUtils, FileFormat, PartitionedFile}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.v2.FileDataSourceV2
import org.apache.spark.sql.execution.datasources.v2.parquet.ParquetTable
import org.apache.spark.sql.internal.SessionState
import org.apache.spark.sql.internal.connector.PredicateUtils
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.{AtomicType, DataType, DatetimeType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.storage.CacheId

/** The part of the door that leads to Spark's catalog, its Parquet reader and its memory. */
object Files {

  /** The catalog's entry of a table or view, by a name as SQL writes it. */
  def catalogTable(session: SparkSession, name: String): CatalogTable = {
    val state = stateOf(session)
    state.catalog.getTableMetadata(state.sqlParser.parseTableIdentifier(name))
  }

  def hadoopConf(session: SparkSession, options: Map[String, String]): Configuration =
    stateOf(session).newHadoopConfWithOptions(options)

  /** The schema in the footers of Parquet files, none if there are no files. */
  def parquetSchema(
      session: SparkSession,
      options: Map[String, String],
      files: Seq[FileStatus]): Option[StructType] =
    new ParquetFileFormat().inferSchema(session, options, files)

  /** A scan of a whole folder of Parquet files, whose name is taken as it is, without patterns. */
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

  /** Spark's Parquet reader, row by row; serialisable, with a broadcast of Hadoop's settings. */
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

  /** What to do about files that are gone or damaged, by options and settings. */
  def fileSourceOptions(options: Map[String, String]): FileSourceOptions =
    new FileSourceOptions(options)

  /** Whether `spark.sql.files.ignoreCorruptFiles` covers what a reader threw. */
  def isCorruptFile(thrown: Throwable): Boolean =
    DataSourceUtils.shouldIgnoreCorruptFileException(thrown)

  /** What a reader threw, as Spark's scans report it, with the file's name. */
  def readError(file: String, thrown: Throwable): Throwable =
    FileDataSourceV2.attachFilePath(file, thrown)

  /**
   * A condition as Spark's older sources take it. Spark's conversion of OR keeps one side when it
   * knows only that one, which is not what the condition says: do not give it any.
   */
  def sourceFilter(predicate: Predicate): Option[Filter] = PredicateUtils.toV1(predicate)

  /** A schema all of whose columns, fields and items may be null. */
  def asNullable(schema: StructType): StructType = schema.asNullable

  def isAtomic(dataType: DataType): Boolean = dataType.isInstanceOf[AtomicType]

  /** Whether this is a date or a time, with or without the other. */
  def isDatetime(dataType: DataType): Boolean = dataType.isInstanceOf[DatetimeType]

  /** Counts the bytes that this thread reads from file systems from now on. */
  def bytesReadFromNow(): () => Long = SparkHadoopUtil.get.getFSBytesReadOnThreadCallback()

  /** Adds to what a task has read; to be called on the task's own thread. */
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

/** On-heap storage memory, from which cached tables and broadcasts are taken, too. */
final class StoragePool private[firesteel] (manager: MemoryManager) {

  /** Takes memory, for which cached blocks may be dropped; all of it or none. */
  def acquire(owner: String, bytes: Long): Boolean =
    manager.acquireStorageMemory(CacheId("firesteel", owner), bytes, MemoryMode.ON_HEAP)

  /** What is not taken, of what cached blocks and execution leave. */
  def freeBytes: Long = manager.maxOnHeapStorageMemory - manager.storageMemoryUsed

  def release(bytes: Long): Unit = manager.releaseStorageMemory(bytes, MemoryMode.ON_HEAP)
}
